// Registers the service worker, which opens the page without the server. Pages in the frame of a host have none: the host opens them.

/** Called when the page has opened, so that the worker does not compete with it for the network. */
export function workOffline() {
  if (self !== top || !navigator.serviceWorker) return;
  const soon = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ f) => setTimeout(f, 200));
  soon(() => navigator.serviceWorker.register('sw.js').catch(() => {})); // without it, the page needs the server
}
