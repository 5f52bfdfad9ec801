// The replay: switches the states of the felt that the server drew. Steps, stakes and texts come from the page's data.
(() => {
  const root = document.getElementById("replay");
  const source = document.getElementById("replay-data");
  if (!root || !source) return;
  const { steps, stakes } = JSON.parse(source.textContent);
  const one = (selector, within = root) => within.querySelector(selector);
  const all = (selector, within = root) => [...within.querySelectorAll(selector)];
  const chips = all("[data-chip]");
  const timeline = document.getElementById("timeline");
  const lines = all("li[id]", timeline);
  const folds = all("details.coup", timeline);
  let unfiltered = null; // which coups were open before the lines were filtered
  const slider = one("input[type=range]");
  const table = document.getElementById("stakes");
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
  const last = steps.length - 1;
  let current = -1;
  let timer = null;

  const svg = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  steps.forEach((step, index) => {
    const isAnomaly = step.findings.length > 0;
    if (!isAnomaly && !step.is_tick && !step.mark_kind) return;
    const x = last ? (index / last) * 1000 : 0;
    const size = step.mark_kind === "deciding" ? { y: 0, width: 5, height: 10, class: "deciding" } : isAnomaly || step.mark_kind ? { y: 0, width: 4, height: 10, class: "anomaly" } : { y: 4, width: 2, height: 6 };
    one(".ticks").append(svg("rect", { x: x - 1.5, ...size }));
  });

  const cell = (text, className) => {
    const element = document.createElement("td");
    element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  const row = ([id, [state, standing, due, paid, status]]) => {
    const { player, bet, colour, disputed } = stakes[id];
    const element = document.createElement("tr");
    element.className = state + (disputed ? ` disputed ${root.dataset.side}` : "");
    const playerCell = cell("");
    const swatch = svg("svg", { viewBox: "0 0 12 12", class: `swatch player-${colour}`, "aria-hidden": "true" });
    swatch.append(svg("circle", { cx: 6, cy: 6, r: 5, class: "body" }));
    playerCell.append(swatch, player);
    element.append(playerCell, cell(bet), cell(standing, "number"), cell(due, "number"), cell(paid, "number"), cell(status, "state"));
    return element;
  };

  const draw = () => {
    const step = steps[current];
    for (const chip of chips) chip.dataset.state = step.chips[chip.dataset.chip] || "off";
    for (const pocket of all("[data-pocket]")) pocket.toggleAttribute("data-hit", pocket.dataset.pocket === step.result);
    for (const spot of all("[data-result]")) spot.toggleAttribute("data-hit", spot.dataset.result === step.result);
    const dice = one("[data-face]") && step.result?.match(/^(-?\d+)-(-?\d+)$/);
    for (const face of all("[data-face]")) face.toggleAttribute("data-on", Boolean(dice) && dice[1 + Number(face.dataset.die)] === face.dataset.face);
    for (const puck of all("[data-puck]")) puck.toggleAttribute("data-on", puck.dataset.puck === String(step.point ?? "off"));
    const outcome = one("[data-role=outcome]");
    if (outcome) outcome.textContent = dice ? Number(dice[1]) + Number(dice[2]) : step.result ?? "";
    one("[data-role=time]").textContent = step.time;
    one("[data-role=zone]").textContent = step.zone;
    one("[data-role=text]").textContent = step.text;
    const mark = one("[data-role=mark]");
    mark.textContent = step.mark;
    mark.hidden = !step.mark;
    mark.classList.toggle("gold", step.mark_kind === "deciding");
    mark.classList.toggle("bad", step.mark_kind === "completing");
    one("[data-role=findings]").textContent = step.findings.join(", ");
    one("[data-role=findings]").hidden = !step.findings.length;
    slider.value = current;
    slider.setAttribute("aria-valuetext", `${step.time} ${step.text}`);
    lines.forEach((line, index) => {
      if (index === current) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
      line.classList.toggle("past", index < current);
    });
    const fold = lines[current].closest("details.coup");
    if (fold) fold.open = true;
    const top = lines[current].offsetTop;
    if (top < timeline.scrollTop + 30 || top > timeline.scrollTop + timeline.clientHeight - 60) timeline.scrollTop = top - timeline.clientHeight / 2;
    const shown = Object.entries(step.stakes);
    table.tBodies[0].replaceChildren(...shown.map(row));
    one(".empty", table.parentElement).hidden = shown.length > 0;
    history.replaceState(null, "", `#e=${step.seq}`);
  };

  const go = (wanted) => {
    const next = Math.max(0, Math.min(last, wanted));
    if (next !== current) {
      current = next;
      draw();
    }
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    one("[data-go=play]").removeAttribute("data-playing");
    one("[data-role=play-label]").textContent = root.dataset.play;
  };
  const tick = () => {
    if (current >= last) return stop();
    const gap = Math.min(6000, Math.max(150, steps[current + 1].at_ms - steps[current].at_ms));
    timer = setTimeout(() => { go(current + 1); tick(); }, gap / Number(one("[data-role=speed]").value));
  };
  const play = () => {
    if (timer) return stop();
    if (current >= last) go(0);
    one("[data-go=play]").setAttribute("data-playing", "");
    one("[data-role=play-label]").textContent = root.dataset.pause;
    tick();
  };
  const anomaly = () => {
    const after = steps.findIndex((step, index) => index > current && step.findings.length);
    const first = steps.findIndex((step) => step.findings.length);
    if (first >= 0) go(after >= 0 ? after : first);
  };
  const moves = { first: () => go(0), previous: () => go(current - 1), next: () => go(current + 1), last: () => go(last), anomaly, play };

  for (const button of all("[data-go]")) button.addEventListener("click", () => { if (button.dataset.go !== "play") stop(); moves[button.dataset.go](); });
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  lines.forEach((line, index) => one("button", line).addEventListener("click", () => { stop(); go(index); }));
  for (const button of all("[data-only]", document)) {
    button.addEventListener("click", () => {
      for (const other of all("[data-only]", document)) other.setAttribute("aria-pressed", String(other === button));
      for (const line of lines) line.hidden = Boolean(button.dataset.only) && !line.classList.contains(button.dataset.only);
      if (button.dataset.only) unfiltered ??= new Set(folds.filter((fold) => fold.open));
      for (const fold of folds) {
        fold.parentElement.hidden = !one("li[id]:not([hidden])", fold);
        fold.open = button.dataset.only ? !fold.parentElement.hidden : unfiltered?.has(fold) ?? fold.open;
      }
      if (!button.dataset.only) unfiltered = null;
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const tag = event.target.tagName;
    if (["TEXTAREA", "SELECT"].includes(tag) || (tag === "INPUT" && event.target.type !== "range")) return;
    if (event.key === " " && ["BUTTON", "SUMMARY", "A"].includes(tag)) return;
    const keys = { ArrowLeft: moves.previous, ArrowRight: moves.next, Home: moves.first, End: moves.last, " ": play, n: anomaly };
    if (!keys[event.key]) return;
    event.preventDefault();
    if (event.key !== " ") stop();
    keys[event.key]();
  });
  addEventListener("hashchange", () => { const index = indexFromHash(); if (index >= 0) go(index); });
  const indexFromHash = () => {
    const match = location.hash.match(/^#e=?(\d+)$/);
    return match ? steps.findIndex((step) => step.seq === Number(match[1])) : -1;
  };
  reducedMotion.addEventListener("change", stop);
  const copy = one("[data-copy]", document);
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(location.href);
      one("span", copy).textContent = copy.dataset.copied;
    });
  }
  const linked = indexFromHash();
  go(linked >= 0 ? linked : Number(root.dataset.focus));
})();
