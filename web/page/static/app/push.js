// Web Push: notifications while no page is open. The service worker shows them; this module gives the server the browser's subscription, which
// belongs to one user.
import { state, change } from './state.js';
import { client } from './client.js';
import { isApart } from './identity.js';
import { keep, kept } from './storage.js';
import { t } from './words.js';

const owner = 'hongbao-push'; // the user for whom the browser has subscribed
const store = 'push-words';   // the cache from which the service worker reads
const patience = 5000;        // ms

/**
 * Subscribes, or renews what the server knows. `state.push` says how far notifications reach then.
 * @param {AbortSignal} signal ends it: the user signs out
 */
export async function subscribe(signal) {
  change(() => { state.push = ''; });
  const reached = await reach({ signal, patience }).catch(() => 'failed');
  change(() => { state.push = /** @type {typeof state.push} */ (reached); });
}

/** @param {import('../sdk/types.js').CallOptions} limits of each call @returns {Promise<string>} */
async function reach(limits) {
  if (!('PushManager' in globalThis) || self !== top || isApart) return 'browser';
  const { key } = await client.pushKey(limits);
  if (!key) return 'disabled';
  const worker = await within(navigator.serviceWorker.ready);
  if (!worker) return 'browser';
  const { id } = /** @type {import('./state.js').User} */ (state.me);
  let subscription = await worker.pushManager.getSubscription();
  if (subscription && (kept(owner) !== id || !isFor(subscription, key))) {
    await within(subscription.unsubscribe());
    subscription = null;
  }
  subscription ??= await within(worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })) ?? null;
  if (!subscription) return 'failed';
  keep(owner, id);
  await writeWords();
  const { endpoint, keys } = subscription.toJSON();
  await client.subscribePush({ endpoint: endpoint ?? '', p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' }, limits);
  return 'on';
}

/** @param {PushSubscription} subscription @param {string} key */
function isFor(subscription, key) {
  const bytes = new Uint8Array(subscription.options.applicationServerKey ?? new ArrayBuffer(0));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') === key;
}

/** Ends the subscription if it is this user's: the user signs out. */
export async function leave() { if (kept(owner) === state.me?.id) await unsubscribe(); }

/** Ends the browser's subscription, also while the server does not answer: the push service tells the server later. */
export async function unsubscribe() {
  change(() => { state.push = ''; });
  keep(owner, null);
  try {
    const worker = await navigator.serviceWorker?.getRegistration();
    const subscription = await worker?.pushManager?.getSubscription();
    if (subscription) {
      await within(Promise.all([subscription.unsubscribe(), client.unsubscribePush(subscription.endpoint).catch(() => {})]));
    }
    await caches.delete(store);
  } catch {
    // The browser has none.
  }
}

/** Tells the service worker what notifications say, in the user's language. */
export async function writeWords() {
  const words = Object.fromEntries(['packet', 'mention', 'direct'].map((why) => [why, t(`news.notification.${why}`, { name: '{name}' })]));
  await (await caches.open(store)).put('words', new Response(JSON.stringify(words)));
}

/** The value of a promise, or undefined if that takes too long. @template Value @param {Promise<Value>} promise @returns {Promise<Value|undefined>} */
function within(promise) {
  return Promise.race([promise, new Promise((resolve) => { setTimeout(resolve, patience, undefined); })]);
}
