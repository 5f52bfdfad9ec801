// The page of the second factor: the seconds until the code changes, the box that is filled next, and the sixth digit
// sends the form. Without it the code is typed and sent by the button.
(() => {
  const shown = document.getElementById("changes");
  if (shown) {
    const began = performance.now(), first = Number(shown.dataset.seconds), period = Number(shown.dataset.period);
    const show = () => {
      const passed = Math.floor((performance.now() - began) / 1000);
      shown.querySelector("b").textContent = (((first - passed - 1) % period) + period) % period + 1;
    };
    show();
    shown.hidden = false;
    setInterval(show, 1000);
  }
  const field = document.querySelector(".otp input");
  if (!field) return;
  const boxes = field.parentElement;
  const mark = () => { boxes.dataset.filled = Math.min(field.value.length, 5); };
  field.addEventListener("input", () => {
    mark();
    if (/^\d{6}$/.test(field.value)) field.form.requestSubmit();
  });
  mark();
})();
