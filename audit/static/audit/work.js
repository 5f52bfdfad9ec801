// The page of long work: how far it is, asked for again while it goes on and somebody looks.
(() => {
  const work = document.querySelector("#work[data-address]");
  if (!work) return;
  const bar = work.querySelector("progress");
  const told = work.querySelector("#told");

  const look = async () => {
    if (document.hidden) return;
    let said;
    try {
      const answer = await fetch(work.dataset.address, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      said = await answer.json();
    } catch {
      return; // the network; the next look is a second away
    }
    if (said.state !== work.dataset.state) {
      location.reload();
      return;
    }
    bar.max = said.total || 1;
    bar.value = said.done;
    if (told.textContent !== said.words) told.textContent = said.words;
  };

  setInterval(look, 1000);
})();
