// Keyboard shortcuts of the desk: g o, g f, g n and ? on every page; j k x a p t f → ← in a list; a p c j k t on a finding; j k from coup to coup.
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const rows = [...document.querySelectorAll("#result_list tbody tr:not(.grp)")];
  let current = -1;
  let going = 0;

  const move = (by) => {
    if (!rows.length) {
      one(by < 0 ? "a[data-key=k]" : "a[data-key=j]")?.click();
      return;
    }
    rows[current]?.removeAttribute("data-current");
    current = Math.max(0, Math.min(rows.length - 1, current + by));
    rows[current].setAttribute("data-current", "");
    rows[current].scrollIntoView({ block: "nearest" });
    rows[current].querySelector("th a, td.ti a, td a")?.focus({ preventScroll: true });
  };

  const unfold = (isOpen) => {
    for (const folded of rows[current]?.querySelectorAll("details.fold") ?? []) folded.open = isOpen;
  };

  // In a list an action is of the rows that are ticked; of the current one, if none is.
  const withRows = (action) => {
    const form = one("#changelist-form"), button = form && one(`button[name=action][value=${action}]`, form);
    if (!button) return false;
    if (!one("input.action-select:checked", form)) rows[current] && one("input.action-select", rows[current])?.click();
    if (!one("input.action-select:checked", form)) return true;
    return button;
  };

  const take = () => {
    const button = withRows("take_selected");
    if (button instanceof HTMLButtonElement) button.form.requestSubmit(button);
    else if (!button) one("#take")?.click();
  };

  const propose = () => {
    const button = withRows("propose_selected");
    if (button instanceof HTMLButtonElement) one("[name=outcome]", button.form)?.focus();
    else if (!button) { const details = one("#propose"); if (details) { details.open = true; one("#reason").focus(); } }
  };

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    x: () => rows[current]?.querySelector("input.action-select")?.click(),
    a: take,
    t: () => one("[data-key=t]")?.click(),
    p: propose,
    c: () => one("#note")?.focus(),
    f: () => one("#changelist-filter summary")?.focus(),
    "/": () => one("#searchbar")?.focus(),
    "?": () => one("#keys")?.showModal(),
  };
  if (rows.length) Object.assign(keys, { ArrowRight: () => unfold(true), ArrowLeft: () => unfold(false) });

  const places = { o: "overview", f: "findings", n: "nights" };

  for (const link of document.querySelectorAll('a[href="#answer"]')) link.addEventListener("click", () => { one("#answer").open = true; });

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || one("dialog[open]")) return;
    if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName) && !["range", "checkbox"].includes(event.target.type)) return;
    const isPlace = going && event.timeStamp - going < 1500 && places[event.key];
    going = event.key === "g" ? event.timeStamp : 0;
    if (isPlace) {
      event.preventDefault();
      event.stopImmediatePropagation();  // n alone is the next anomaly
      one(`#menu [data-go=${isPlace}] a`)?.click();
      return;
    }
    if (event.key.startsWith("Arrow") && event.target.type === "range") return;
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }, { capture: true });
})();
