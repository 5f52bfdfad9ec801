// The casino that lists show is sent as soon as it is chosen; without this, by its button.
for (const select of document.querySelectorAll("select[data-sends]")) {
  const button = select.form.querySelector("button");
  button.hidden = true;
  select.addEventListener("change", () => select.form.requestSubmit(button));
}

// An open filter closes by Escape, and by a click elsewhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const open of document.querySelectorAll(".pill-filter details[open], details.all-filters[open]")) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(".pill-filter details[open]")) if (!open.contains(event.target)) open.open = false;
});

// On a telephone the long tables of a night are folded under their headings.
if (matchMedia("(max-width: 760px)").matches) for (const long of document.querySelectorAll("details.folded")) long.open = false;
addEventListener("beforeprint", () => { for (const long of document.querySelectorAll("details.folded")) long.open = true; });

// The open tab of a row that scrolls is in sight.
const showTab = (row) => { const tab = row.querySelector("[aria-current]"); if (tab) row.scrollLeft = tab.offsetLeft - row.offsetLeft - 24; };
const turned = new ResizeObserver((rows) => { for (const { target } of rows) showTab(target); });
for (const row of document.querySelectorAll(".views")) { showTab(row); turned.observe(row); }

// So is the open page in the navigation, where that scrolls.
for (const link of document.querySelectorAll("#menu nav [aria-current]")) link.scrollIntoView({ block: "nearest" });

// A chart that scrolls shows its right end, also after the page became narrower: the newest evidence and the level that it
// asks at, this month, the last of a night's exchanges.
const showEnd = (frame) => { frame.scrollLeft = frame.scrollWidth; };
const resized = new ResizeObserver((frames) => { for (const { target } of frames) showEnd(target); });
for (const chart of document.querySelectorAll(".scrollx > :is(svg.evidence, svg.dots, svg.months, .stairs-frame)")) {
  showEnd(chart.parentElement);
  resized.observe(chart.parentElement);
}

// The shell of the desk: Ctrl K opens the palette, arrows choose in it, Enter opens. Without it the field leads to its page.
(() => {
  const palette = document.getElementById("palette");
  if (!palette) return;
  const field = palette.querySelector("input"), found = palette.querySelector("#palette-found");
  let requested = "", timer = 0, pending = null;

  const choose = (by) => {
    const links = [...found.querySelectorAll("a")];
    if (!links.length) return;
    const at = links.findIndex((link) => "chosen" in link.dataset);
    links[at]?.removeAttribute("data-chosen");
    const next = links[(at + by + links.length) % links.length];
    next.dataset.chosen = "";
    next.scrollIntoView({ block: "nearest" });
  };

  const ask = async () => {
    const typed = field.value.trim();
    if (typed === requested && found.childElementCount) return;
    requested = typed;
    pending?.abort();
    pending = new AbortController();
    try {
      const answer = await fetch(`${palette.dataset.address}?part=1&q=${encodeURIComponent(typed)}`, { signal: pending.signal, redirect: "error" });
      if (!answer.ok) return;
      found.innerHTML = await answer.text();  // our own page: every text in it is escaped by the server
      choose(1);
    } catch { /* a later key has sent another request, or the session has ended: Enter still leads to the page */ }
  };

  const open = (typed = "") => {
    if (palette.open) return;
    field.value = typed;
    requested = "";
    found.replaceChildren();
    palette.showModal();
    ask();
  };

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "k") { event.preventDefault(); palette.open ? palette.close() : open(); }
  });
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-palette]");
    if (opener) { event.preventDefault(); open(); }
    if (event.target === palette || event.target.closest("[data-shut]")) palette.close();
  });
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); choose(event.key === "ArrowDown" ? 1 : -1); }
    const chosen = found.querySelector("[data-chosen]");
    if (event.key === "Enter" && chosen && field.value.trim() === requested) { event.preventDefault(); chosen.click(); }
  });
})();
