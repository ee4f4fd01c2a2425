// Notifications of the system, while the page is hidden, and by push.js also while it is closed. They are off until the user switches them on.
import { state, change } from './state.js';
import { keep, kept } from './storage.js';
import { go } from './route.js';

const name = 'hongbao-notify';
const icon = new URL('../icon-192.png', import.meta.url).href;

/** Whether this browser has them. */
export function canNotify() { return 'Notification' in globalThis && isSecureContext; }

/** Restores the user's earlier choice, unless the browser has taken the permission back. */
export function chooseNotifications() {
  change(() => { state.notify = canNotify() && kept(name) === 'on' && Notification.permission === 'granted'; });
  navigator.serviceWorker?.addEventListener('message', ({ data }) => { if (data?.room) go({ room: data.room }); });
}

/** Switches them on or off. The browser asks the user only here. @param {boolean} on @returns {Promise<boolean>} false: the browser forbids them */
export async function setNotifications(on) {
  const allowed = !on || await Notification.requestPermission() === 'granted';
  keep(name, on && allowed ? 'on' : null);
  change(() => { state.notify = on && allowed; });
  if (state.me && allowed) reach(on ? 'subscribe' : 'unsubscribe');
  return allowed;
}

/** Renews the subscription of a user that has switched notifications on. */
export function renewPush() { if (state.notify) reach('subscribe'); }

/** Ends the subscription: the user signs out. It does not wait for the server to answer an earlier request. */
export async function endPush() {
  signsOut.abort();
  signsOut = new AbortController();
  if (state.notify) await reach('leave');
}

let last = Promise.resolve();
let signsOut = new AbortController();

/** Does one thing after the other. @param {'subscribe'|'unsubscribe'|'leave'|'writeWords'} act */
function reach(act) {
  const { signal } = signsOut;
  last = last.then(async () => (await import('./push.js'))[act](signal)).catch(() => {}); // without the module, the page itself still tells of news
  return last;
}

/** The language has changed. */
export async function respeak() { if (state.push === 'on') await reach('writeWords'); }

/** One for each room: a newer one takes the place of an older. @param {import('./model/news.js').News} news */
export function notify({ room, title, text }) {
  if (!state.notify) return;
  const options = { body: text, tag: room, icon, data: { room } };
  try {
    const shown = new Notification(title, options);
    shown.onclick = () => {
      focus();
      go({ room });
      shown.close();
    };
  } catch { // browsers of phones show only those of a service worker
    navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, options)).catch(() => {});
  }
}
