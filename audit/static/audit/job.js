// The page of a background job: how far it is, asked for again while it goes on and somebody looks.
(() => {
  const job = document.querySelector("#job[data-address]");
  if (!job) return;
  const bar = job.querySelector("progress");
  const progress = job.querySelector("#progress");

  const look = async () => {
    if (document.hidden) return;
    let status;
    try {
      const answer = await fetch(job.dataset.address, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      status = await answer.json();
    } catch {
      return; // the network; the next look is a second away
    }
    if (status.state !== job.dataset.state) {
      location.reload();
      return;
    }
    bar.max = status.total || 1;
    bar.value = status.done;
    if (progress.textContent !== status.words) progress.textContent = status.words;
  };

  setInterval(look, 1000);
})();
