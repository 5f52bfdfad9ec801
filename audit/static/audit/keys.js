// Keyboard shortcuts of the desk: j k x t in a list; a p c j k t on a finding; j k from coup to coup; / and ? everywhere.
(() => {
  const one = (selector) => document.querySelector(selector);
  const rows = [...document.querySelectorAll("#result_list tbody tr:not(.grp)")];
  let current = -1;

  const move = (by) => {
    if (!rows.length) {
      one(by < 0 ? "a[data-key=k]" : "a[data-key=j]")?.click();
      return;
    }
    rows[current]?.removeAttribute("data-current");
    current = Math.max(0, Math.min(rows.length - 1, current + by));
    rows[current].setAttribute("data-current", "");
    rows[current].scrollIntoView({ block: "nearest" });
    rows[current].querySelector("th a, td a")?.focus({ preventScroll: true });
  };

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    x: () => rows[current]?.querySelector("input.action-select")?.click(),
    a: () => one("#take")?.click(),
    t: () => one("[data-key=t]")?.click(),
    p: () => { const details = one("#propose"); if (details) { details.open = true; one("#reason").focus(); } },
    c: () => one("#note")?.focus(),
    "/": () => one("#searchbar")?.focus(),
    "?": () => one("#keys")?.showModal(),
  };

  for (const link of document.querySelectorAll('a[href="#answer"]')) link.addEventListener("click", () => { one("#answer").open = true; });

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName) && !["range", "checkbox"].includes(event.target.type)) return;
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
})();
