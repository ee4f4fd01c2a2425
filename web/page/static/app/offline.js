// What makes the page open without the server: the service worker, and the last messages. In the frame of a host there is neither: the host
// opens the page.

/** Called when the page has opened, so that this does not compete with it for the network. */
export function workOffline() {
  if (self !== top) return;
  const soon = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ f) => setTimeout(f, 200));
  soon(() => Promise.all([navigator.serviceWorker?.register('sw.js'), keepMessages()]).catch(() => {})); // without them, the page needs the server
}

async function keepMessages() {
  const { saveOften } = await import('./model/saved.js');
  saveOften();
}
