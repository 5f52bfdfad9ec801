// A button that copies the text of another element: <button data-copy="id" data-copied="Copied" hidden>. It is shown
// where the browser lets a page copy; elsewhere the text is selected by one click.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.copied;
    });
  }
}
