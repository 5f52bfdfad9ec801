// The page of notifications: a click asks for permission, and the browser's address goes into the form.
(() => {
  const form = document.querySelector("form[data-push-key]");
  if (!form) return;
  const say = (name) => {
    for (const each of document.querySelectorAll("[data-push-note]")) each.hidden = each.dataset.pushNote !== name;
  };
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) {
    say("unable");
    return;
  }
  form.hidden = false;
  if (Notification.permission === "denied") say("denied");

  const subscribe = async () => {
    await navigator.serviceWorker.register(form.dataset.worker);
    const { pushManager } = await navigator.serviceWorker.ready;
    const options = { userVisibleOnly: true, applicationServerKey: form.dataset.pushKey };
    try {
      return await pushManager.subscribe(options);
    } catch (error) {
      const old = await pushManager.getSubscription(); // of another key
      if (!old) throw error;
      await old.unsubscribe();
      return pushManager.subscribe(options);
    }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if ((await Notification.requestPermission()) !== "granted") {
      say("denied");
      return;
    }
    try {
      const { endpoint, keys } = (await subscribe()).toJSON();
      form.elements.endpoint.value = endpoint;
      form.elements.public_key.value = keys.p256dh;
      form.elements.auth.value = keys.auth;
    } catch {
      say("failed");
      return;
    }
    form.submit();
  });
})();
