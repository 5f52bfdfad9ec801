// Kept by a browser that an officer lets notify him. What it is sent has a text and the path of a page of the desk.
self.addEventListener("push", (event) => {
  const { text, path } = event.data.json();
  event.waitUntil(self.registration.showNotification("Cabochon", { body: text, tag: path, data: path }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(new URL(event.notification.data, self.registration.scope)));
});
