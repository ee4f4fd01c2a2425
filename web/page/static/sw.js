// The service worker of the page: it opens the page when the server cannot be reached. The server writes the version and the files into it, so
// each version of the page is a new worker with a cache of its own. A new worker waits until the tabs of the old version are closed. Until then
// both caches are there, so that an open tab finds the files of its version.
const version = 'none';
/** @type {string[]} */
const files = [];

const worker = /** @type {any} */ (self);
const cacheOf = (/** @type {string} */ name) => `hongbao-${name}`;
const shell = ['./', 'page.json']; // their content changes at the same address: the server's is newer
const patience = 4000; // ms that the server may take before the stored file is shown
const scope = new URL('./', worker.location.href).href;

worker.addEventListener('install', (/** @type {any} */ e) => {
  e.waitUntil((async () => {
    const cache = await caches.open(cacheOf(version));
    await cache.addAll([...shell, ...files]);
    const index = await (await cache.match('./'))?.text();
    if (!index?.includes(version)) { // another instance, of another version, has answered
      await caches.delete(cacheOf(version));
      throw new Error(`the page is not of version ${version}`);
    }
  })());
});

worker.addEventListener('activate', (/** @type {any} */ e) => {
  e.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith(cacheOf('')) && name !== cacheOf(version));
    await Promise.all(old.map((name) => caches.delete(name)));
    await worker.clients.claim();
  })());
});

worker.addEventListener('fetch', (/** @type {any} */ e) => {
  const { method, url } = e.request;
  if (method !== 'GET' || !url.startsWith(scope)) return;
  const path = url.slice(scope.length).split(/[?#]/)[0];
  if (path === '' || path === 'page.json') e.respondWith(newest(e.request, path || './'));
  else if (/^[0-9a-f]{16}\//.test(path)) e.respondWith(stored(e.request));
});

/** A file of a version never changes. @param {Request} request */
async function stored(request) { return await caches.match(request) ?? fetch(request); }

/** The server's answer, or what was stored last if there is none in time. @param {Request} request @param {string} file */
async function newest(request, file) {
  const late = new Promise((resolve) => { setTimeout(resolve, patience); });
  const asked = fetch(request).then((answer) => (answer.status < 500 ? answer : undefined), () => undefined);
  return await Promise.race([asked, late]) ?? await kept(file) ?? await asked ?? Response.error();
}

/** The file in the newest cache that is complete. @param {string} file */
async function kept(file) {
  for (const name of (await caches.keys()).reverse()) {
    const found = await (await caches.open(name)).match(new URL(file, scope).href);
    if (found) return found;
  }
  return undefined;
}

// The server sends a push only while the user has no socket. A page that is being looked at tells of news itself as soon as it has one again.
// A window of its own guest, and a page in the frame of a host, have another user: they tell nothing of it.
const isOfUser = (/** @type {any} */ tab) => tab.frameType !== 'nested' && !new URL(tab.url).searchParams.has('guest');

worker.addEventListener('push', (/** @type {any} */ e) => {
  e.waitUntil((async () => {
    const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
    if (tabs.some((/** @type {any} */ tab) => tab.visibilityState === 'visible' && isOfUser(tab))) return undefined;
    const { room, name, why, from, count = 1 } = e.data.json();
    const words = await (await caches.match('words', { cacheName: 'push-words' }))?.json() ?? {};
    const said = (words[why] ?? '{name}').replace('{name}', () => from) + (count > 1 ? ` (${count})` : '');
    return worker.registration.showNotification(name || from, { body: said, tag: room, renotify: true, icon: 'icon-192.png', data: { room } });
  })());
});

worker.addEventListener('notificationclick', (/** @type {any} */ e) => {
  const { room } = e.notification.data;
  e.notification.close();
  e.waitUntil((async () => {
    const tab = (await worker.clients.matchAll({ type: 'window' })).find(isOfUser);
    if (!tab) return worker.clients.openWindow(`./#/room/${encodeURIComponent(room)}`);
    tab.postMessage({ room });
    return tab.focus();
  })());
});
