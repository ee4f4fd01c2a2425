// The guest's token in this browser. All tabs share one guest. A window that was opened for another guest has its own token, which
// lasts as long as the window: so two windows of one browser can be two guests.
import { keep, kept, ofTab } from './storage.js';

const name = 'hongbao-guest';

/** The address of a window for another guest. */
export const anotherGuest = '?guest=another';
/** Whether this is such a window. */
export const isApart = new URLSearchParams(location.search).has('guest');

/** @returns {string|null} */
export function keptGuest() { return isApart ? ofTab.get(name) : kept(name); }

/** Where notes about the window's guest are kept: they last as long as the guest. */
export const ofGuest = isApart ? { get: (/** @type {string} */ at) => ofTab.get(at), set: (/** @type {string} */ at, /** @type {string|null} */ text) => ofTab.set(at, text) } : { get: kept, set: keep };

/** @param {string|null} text null: forgets it */
export function keepGuest(text) {
  if (isApart) ofTab.set(name, text);
  else keep(name, text);
}

/**
 * Tells what is stored when another tab has stored a token, or none: this tab may have stored a newer one. A page that the browser has frozen missed that, so it is told, too.
 * @param {(token: string|null) => void} tell
 */
export function followGuest(tell) {
  if (isApart) return;
  addEventListener('storage', (e) => { if (e.key === name) tell(keptGuest()); });
  addEventListener('pageshow', (e) => { if (e.persisted) tell(keptGuest()); });
}

/** What a token says. @param {string} token */
export function claims(token) {
  try {
    return JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}

/** Whether two tokens are of one guest. @param {string|null} a @param {string|null} b */
export function isSameGuest(a, b) {
  if (!a || !b) return false;
  return a === b || (claims(a).sub ?? a) === (claims(b).sub ?? b);
}

const arriving = /^#\/device\/([^/]+)$/;

/** The device code in the page's address, with which a guest comes from another device. @returns {string|null} */
export function deviceCode() {
  try {
    return decodeURIComponent(arriving.exec(location.hash)?.[1] ?? '') || null;
  } catch {
    return null; // it cannot be decoded
  }
}

/** A link with a device code. @param {string} code */
export function deviceLink(code) {
  return new URL(`#/device/${encodeURIComponent(code)}`, location.origin + location.pathname).href;
}
