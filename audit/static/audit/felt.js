// A felt that is wider than its frame, as on a telephone, begins at the stake that the page is about, else at the result.
(() => {
  for (const frame of document.querySelectorAll(".felt-frame")) {
    if (frame.scrollWidth <= frame.clientWidth) continue;
    const shown = frame.querySelector(".chip[data-disputed]:not([data-state=off])") ?? frame.querySelector(".number[data-hit]");
    if (!shown) continue;
    const at = shown.getBoundingClientRect();
    const left = frame.getBoundingClientRect().left;
    frame.scrollLeft += at.left + at.width / 2 - left - frame.clientWidth / 2;
  }
})();
