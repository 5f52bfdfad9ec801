// The replay: flips the states of what the server drew. Steps, stakes and words come from the page's own data.
(() => {
  const root = document.getElementById("replay");
  const source = document.getElementById("replay-data");
  if (!root || !source) return;
  const { steps, stakes } = JSON.parse(source.textContent);
  const one = (selector, within = root) => within.querySelector(selector);
  const all = (selector, within = root) => [...within.querySelectorAll(selector)];
  const chips = all("[data-chip]");
  const lines = all("#timeline li", document);
  const slider = one("input[type=range]");
  const table = document.getElementById("stakes");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const last = steps.length - 1;
  let place = -1;
  let timer = null;

  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  steps.forEach((step, number) => {
    const is_result = ["dice.thrown", "ball.settled", "no_more_bets"].includes(step.kind);
    if (!step.found.length && !is_result) return;
    const x = last ? (number / last) * 1000 : 0;
    one(".ticks").append(svg("rect", { x: x - 1.5, y: step.found.length ? 0 : 4, width: step.found.length ? 4 : 2, height: step.found.length ? 10 : 6, class: step.found.length ? "bad" : "" }));
  });

  const cell = (words, kind) => {
    const made = document.createElement("td");
    made.textContent = words;
    if (kind) made.className = kind;
    return made;
  };

  const row = ([id, [state, standing, due, paid, status]]) => {
    const { who, bet, colour, disputed } = stakes[id];
    const made = document.createElement("tr");
    made.className = state + (disputed ? " disputed" : "");
    const player = cell("");
    const swatch = svg("svg", { viewBox: "0 0 12 12", class: `swatch player-${colour}`, "aria-hidden": "true" });
    swatch.append(svg("circle", { cx: 6, cy: 6, r: 5, class: "body" }));
    player.append(swatch, who);
    made.append(player, cell(bet), cell(standing, "number"), cell(due, "number"), cell(paid, "number"), cell(status, "state"));
    return made;
  };

  const draw = () => {
    const step = steps[place];
    for (const chip of chips) chip.dataset.state = step.chips[chip.dataset.chip] || "off";
    for (const pocket of all("[data-pocket]")) pocket.toggleAttribute("data-hit", pocket.dataset.pocket === step.pocket);
    for (const face of all("[data-face]")) face.toggleAttribute("data-on", Boolean(step.faces) && String(step.faces[Number(face.dataset.die)]) === face.dataset.face);
    for (const puck of all("[data-puck]")) puck.toggleAttribute("data-on", puck.dataset.puck === String(step.point ?? "off"));
    const outcome = one("[data-role=outcome]");
    if (outcome) outcome.textContent = step.faces ? step.faces[0] + step.faces[1] : step.pocket ?? "";
    one("[data-role=time]").textContent = step.time;
    one("[data-role=words]").textContent = step.words;
    one("[data-role=found]").textContent = step.found.join(", ");
    one("[data-role=found]").hidden = !step.found.length;
    slider.value = place;
    slider.setAttribute("aria-valuetext", `${step.time} ${step.words}`);
    lines.forEach((line, number) => {
      if (number === place) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
      line.classList.toggle("past", number < place);
    });
    const list = lines[place].parentElement;
    const top = lines[place].offsetTop;
    if (top < list.scrollTop + 30 || top > list.scrollTop + list.clientHeight - 60) list.scrollTop = top - list.clientHeight / 2;
    const shown = Object.entries(step.stakes);
    table.tBodies[0].replaceChildren(...shown.map(row));
    one(".empty", table.parentElement).hidden = shown.length > 0;
    history.replaceState(null, "", `#e=${step.seq}`);
  };

  const go = (wanted) => {
    const next = Math.max(0, Math.min(last, wanted));
    if (next !== place) {
      place = next;
      draw();
    }
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    one("[data-go=play]").removeAttribute("data-playing");
    one("[data-role=play-word]").textContent = root.dataset.play;
  };
  const tick = () => {
    if (place >= last) return stop();
    const gap = Math.min(6000, Math.max(150, steps[place + 1].at_ms - steps[place].at_ms));
    timer = setTimeout(() => { go(place + 1); tick(); }, gap / Number(one("[data-role=speed]").value));
  };
  const play = () => {
    if (timer) return stop();
    if (place >= last) go(0);
    one("[data-go=play]").setAttribute("data-playing", "");
    one("[data-role=play-word]").textContent = root.dataset.pause;
    tick();
  };
  const anomaly = () => {
    const after = steps.findIndex((step, number) => number > place && step.found.length);
    const first = steps.findIndex((step) => step.found.length);
    if (first >= 0) go(after >= 0 ? after : first);
  };
  const moves = { first: () => go(0), back: () => go(place - 1), on: () => go(place + 1), last: () => go(last), anomaly, play };

  for (const button of all("[data-go]")) button.addEventListener("click", () => { if (button.dataset.go !== "play") stop(); moves[button.dataset.go](); });
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  lines.forEach((line, number) => one("button", line).addEventListener("click", () => { stop(); go(number); }));
  for (const button of all("[data-only]", document)) {
    button.addEventListener("click", () => {
      for (const other of all("[data-only]", document)) other.setAttribute("aria-pressed", String(other === button));
      for (const line of lines) line.hidden = Boolean(button.dataset.only) && !line.classList.contains(button.dataset.only);
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const tag = event.target.tagName;
    if (["TEXTAREA", "SELECT"].includes(tag) || (tag === "INPUT" && event.target.type !== "range")) return;
    if (event.key === " " && ["BUTTON", "SUMMARY", "A"].includes(tag)) return;
    const keys = { ArrowLeft: moves.back, ArrowRight: moves.on, Home: moves.first, End: moves.last, " ": play, n: anomaly };
    if (!keys[event.key]) return;
    event.preventDefault();
    if (event.key !== " ") stop();
    keys[event.key]();
  });
  addEventListener("hashchange", () => { const named = fromAddress(); if (named >= 0) go(named); });
  const fromAddress = () => {
    const found = location.hash.match(/^#e=?(\d+)$/);
    return found ? steps.findIndex((step) => step.seq === Number(found[1])) : -1;
  };
  calm.addEventListener("change", stop);
  const named = fromAddress();
  go(named >= 0 ? named : Number(root.dataset.focus));
})();
