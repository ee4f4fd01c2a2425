// Signs the user in and out. A guest's token is stored in this browser, so that a reload and a second tab have the same user. Any other
// token stays in memory.
import { ask, client, newestToken, openClient, setUsedToken, usedToken } from './client.js';
import { state, change, forgetUser } from './state.js';
import { forgetSaved, forgetWritten } from './storage.js';
import { claims, deviceCode, followGuest, isApart, isSameGuest, keepGuest, keptGuest } from './identity.js';
import { go } from './route.js';
import { listen } from './events.js';
import { sayUnsent } from './actions/messages.js';
import { awaitSilenceEnd } from './actions/prefs.js';
import { endPush } from './notifications.js';
import { askHost, listenToHost } from './host.js';

/** @typedef {NonNullable<typeof state.by>} By */

const expired = 109;
const noToken = 3500;

const hostPatience = 1500; // ms to wait for the host's token before the sign-in screen opens; a later token still signs the user in
const renewPatience = 8000;
const savedPatience = 1200; // ms to wait for the server before the last messages are shown
const day = 86_400_000; // ms; a guest's token that is older is renewed
const guestPatience = 3000;
const lockPatience = 8000; // ms to wait for another tab that creates a guest
const storePatience = 200; // ms after which other tabs read what this tab has stored; they may be processes of their own
const soon = 60_000; // ms; if a token is requested again within this time, the server has refused the last one

/** Signs in without user interaction if possible, else opens the sign-in screen. */
export async function startSession() {
  followGuest(otherTab);
  addEventListener('hashchange', () => { if (deviceCode()) location.reload(); });
  state.page = await readPage();
  listenToHost(state.page.hosts, hostSpoke);
  const token = await askHost('token-wanted', hostPatience);
  if (token) enter(token, 'host');
  else if (state.page.guests && deviceCode()) change(() => { state.door = { status: 'arriving', error: null }; });
  else enterStored();
}

/** Signs in as the guest of this browser, else opens the sign-in screen. */
function enterStored() {
  const token = keptGuest();
  if (token) {
    enter(token, 'guest');
    renewed(token);
    showSaved(token);
  } else change(() => { state.door = { status: 'open', error: null }; });
}

/** Takes the guest of another device over, by the code in the address. */
export async function arrive() {
  setUsedToken('');
  change(() => { state.door = { status: 'entering', error: null }; });
  try {
    const { token } = await ask('v1/guests/redeem', { code: deviceCode() });
    keepGuest(token);
    if (usedToken()) return; // the host has named its user meanwhile
    go({ room: null, sheet: null }, { replace: true });
    enter(token, 'guest');
  } catch (error) {
    change(() => { state.door = { status: 'arriving', error }; });
  }
}

/** Leaves the code in the address unused. */
export function stayHere() {
  go({ room: null, sheet: null }, { replace: true });
  enterStored();
}

/** The server's description of the page; nothing can begin without it. @returns {Promise<NonNullable<typeof state.page>>} */
async function readPage() {
  for (let wait = 1000; ; wait = Math.min(wait * 2, 10_000)) {
    try {
      const response = await fetch('page.json');
      if (response.ok) return await response.json();
      throw new TypeError(response.statusText);
    } catch (error) {
      change(() => { state.door = { status: 'loading', error }; });
      await new Promise((resolve) => { setTimeout(resolve, wait); });
    }
  }
}

/** Signs in as a new guest, or as the guest that another tab has created first. @param {string} name @param {string} avatar '': none */
export async function enterAsGuest(name, avatar) {
  setUsedToken('');
  change(() => { state.door = { status: 'entering', error: null }; });
  try {
    await inOneTab(() => enterFirst(name, avatar));
  } catch (error) {
    change(() => { state.door = { status: 'open', error }; });
  }
}

/**
 * Runs one tab's sign-in after another's. Only pages of a secure origin have locks, and a tab does not wait longer than some seconds for one: otherwise two tabs may
 * create a guest each, and \`otherTab\` makes both tabs go on as one of them.
 * @param {() => Promise<void>} signIn
 */
async function inOneTab(signIn) {
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return signIn();
  };
  if (isApart || !navigator.locks) return begin();
  try {
    return await navigator.locks.request('hongbao-guest', { signal: AbortSignal.timeout(lockPatience) }, begin);
  } catch (error) {
    if (hasBegun) throw error;
    return begin();
  }
}

/** @param {string} name @param {string} avatar */
async function enterFirst(name, avatar) {
  const created = keptGuest() ? null : (await ask('v1/guests', { name })).token;
  if (created && avatar) await ask('v1/guests/profile', { avatar }, created).catch(() => {}); // it can be chosen later, too
  if (usedToken()) return; // the host has named its user meanwhile
  const token = keptGuest() ?? created;
  keepGuest(token);
  state.isNew = token === created;
  enter(token, 'guest');
  await new Promise((resolve) => { setTimeout(resolve, storePatience); });
}

/** @param {string} token @param {By} by */
export function enter(token, by) {
  change(() => {
    state.door = { status: 'entering', error: null };
    state.by = by;
  });
  openClient({ token, guest: by === 'guest', version: state.page?.version, getToken: tokens(token, by) });
  listen(client);
  client.on('link', (e) => { if (e.state === 'closed') ended(e.code, by); });
}

/**
 * Returns the first token, then newer ones. A request soon after the last one means that the token was refused. A
 * request after weeks is made only because timers allow no longer time; it gets the same token.
 * @param {string} token @param {By} by
 */
function tokens(token, by) {
  let last = '';
  let at = 0;
  return async () => {
    const next = !last || by === 'token' ? token : by === 'host' ? await hostAgain() : await guestAgain();
    if (!next || (next === last && Date.now() - at < soon)) return null;
    last = next;
    setUsedToken(next);
    at = Date.now();
    return next;
  };
}

/** The newest token of this tab's guest; null: the browser keeps another guest or none, and the session ends. */
async function guestAgain() {
  const stored = keptGuest();
  otherTab(stored);
  return isSameGuest(stored, usedToken()) ? await renewed(stored) : null;
}

/**
 * Returns a guest's token, which is renewed and stored first if it is older than a day. If the server cannot be reached or
 * refuses, it returns the old one: the socket shows what is wrong.
 * @param {string|null} token
 */
async function renewed(token) {
  if (!token || Date.now() - issuedAt(token) < day) return token;
  try {
    const response = await post('v1/guests/renew', token);
    if (!response.ok) return token;
    const answer = await response.json();
    const stored = keptGuest();
    if (stored !== token) return isSameGuest(stored, token) ? stored : null; // another tab has signed out, or was faster
    keepGuest(answer.token);
    return /** @type {string} */ (answer.token);
  } catch {
    return token;
  }
}

/** Shows a guest the last messages while the server does not answer. @param {string} token */
async function showSaved(token) {
  if (navigator.onLine) await new Promise((resolve) => { setTimeout(resolve, savedPatience); });
  if (state.me || state.by !== 'guest') return;
  try {
    const { readSaved, restore } = await import('./model/saved.js');
    const saved = await readSaved(claims(token).sub);
    if (!saved || state.me || state.by !== 'guest' || state.door.status !== 'entering') return;
    change(() => restore(saved));
    awaitSilenceEnd();
    sayUnsent();
  } catch {
    // The module cannot be loaded: the page waits for the server.
  }
}

/** When a token was issued, in ms. @param {string} token */
function issuedAt(token) { return claims(token).iat * 1000 || 0; }

/** @param {string} path @param {string} token */
function post(path, token) {
  return fetch(path, { method: 'POST', headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(guestPatience) });
}

/** A slow host is asked again: the link shows that to the user. */
async function hostAgain() {
  const token = await askHost('token-over', renewPatience);
  if (token === undefined) throw new DOMException('the host page does not answer', 'TimeoutError');
  return token;
}

/** The host names its user, late or unasked. That user takes the place of a guest. @param {string} token */
function hostSpoke(token) {
  const { status } = state.door;
  if (status === 'ended') {
    location.reload(); // then the host is asked for a token again
  } else if (status === 'open' || !usedToken() || state.by === 'guest') {
    if (status !== 'open' && usedToken()) {
      client.close();
      change(forgetUser);
    }
    enter(token, 'host');
  }
}

/**
 * Another tab has stored a guest's token, or none. Then the session of another guest ends here. A tab that shows nothing of its guest yet goes on as the stored
 * one, as a sign-in screen does.
 * @param {string|null} token
 */
function otherTab(token) {
  const { status } = state.door;
  if (status === 'open') {
    if (token) enter(token, 'guest');
  } else if (token && status === 'entering' && !state.me && state.by === 'guest' && usedToken() && !isSameGuest(token, usedToken())) {
    client.close();
    state.isNew = false;
    enter(token, 'guest');
  } else if (state.by === 'guest' && usedToken() && status !== 'ended' && !isSameGuest(token, usedToken())) {
    client.close();
    change(() => { state.door = { status: 'ended', error: { word: token ? 'another' : 'elsewhere' } }; });
  }
}

/**
 * The server has ended the session. A user that was not connected yet may try another token; others see the reason.
 * @param {number|undefined} code @param {By} by
 */
function ended(code, by) {
  if (!code) return; // this page itself has ended the session
  if (code === expired) code = noToken;
  const another = !state.me && (by !== 'guest' || isTokenBad(code));
  if (another && by === 'guest') forgetRefused();
  change(() => { state.door = { status: another ? 'open' : 'ended', error: { word: `closed_${code}`, code } }; });
}

/** Forgets the token that the server has refused. A newer or another guest's token in its place stays. @returns {boolean} whether it was stored */
function forgetRefused() {
  const was = keptGuest() === usedToken();
  if (was) keepGuest(null);
  setUsedToken('');
  return was;
}

/** @param {number} code */
function isTokenBad(code) { return code === noToken || code === 3503; }

/** After the end: signs in again, as the same user if the server may accept that. */
export async function comeBack() {
  const { code = 0 } = /** @type {{code?: number}} */ (state.door.error);
  if (state.by === 'guest' && isTokenBad(code) && forgetRefused() && !isApart) await forgetSaved();
  location.reload();
}

/** Forgets the user in this browser. A guest's token is revoked, too: a copy of it is useless then. */
export async function signOut() {
  const token = state.by === 'guest' && newestToken();
  await endPush();
  client.close();
  if (token) {
    if (isSameGuest(keptGuest(), token)) keepGuest(null); // before the server answers: it closes the sockets of other tabs
    try {
      await post('v1/guests/sign_out', token);
    } catch {
      // The server cannot be reached. The token expires later.
    }
  }
  forgetWritten(state.me?.id ?? '');
  if (!isApart && !keptGuest()) await forgetSaved();
  history.replaceState(null, '', location.pathname + location.search);
  location.reload();
}
