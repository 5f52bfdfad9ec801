// The page of a background job: fetches its progress every second while the job runs and the page is visible.
(() => {
  const job = document.querySelector("#job[data-address]");
  if (!job) return;
  const bar = job.querySelector("progress");
  const text = job.querySelector("#progress");

  const refresh = async () => {
    if (document.hidden) return;
    let status;
    try {
      const response = await fetch(job.dataset.address, { headers: { Accept: "application/json" } });
      if (!response.ok) return;
      status = await response.json();
    } catch {
      return; // the network is down; the next try is a second away
    }
    if (status.state !== job.dataset.state) {
      location.reload();
      return;
    }
    bar.max = status.total || 1;
    bar.value = status.done;
    (status.phases ?? []).forEach((phase, index) => {
      const line = job.querySelectorAll(".phases li")[index];
      if (!line) return;
      line.className = phase.state;
      line.querySelector(".s").textContent = phase.text;
      const own = line.querySelector("progress");
      if (index > 0) own.value = phase.state === "done" ? 1 : 0;
    });
    if (text.textContent !== status.text) text.textContent = status.text;
  };

  setInterval(refresh, 1000);
})();
