// The client of the signed-in user, and the user's token: all that the page asks the server for as this user.
import { Client } from '../sdk/client.js';
import { RefusedError } from '../sdk/errors.js';
import { isSameGuest, keptGuest } from './identity.js';

let lastToken = ''; // the token that the client has used last; '': none
let isGuest = false;

/** @type {Client} undefined until a user has signed in; nothing uses it before */
export let client;

/**
 * Makes the client of a user and begins to connect.
 * @param {{token: string, guest: boolean, version: string|undefined, getToken: () => Promise<string|null>}} user
 */
export function openClient({ token, guest, version, getToken }) {
  lastToken = token;
  isGuest = guest;
  const address = new URL('v1/socket', document.baseURI);
  address.protocol = address.protocol.replace('http', 'ws');
  client = new Client(address.href, { name: 'web', version, getToken });
}

/** The token that the client has used last; '': none. */
export function usedToken() { return lastToken; }

/** @param {string} token which the client uses from now on; '': none */
export function setUsedToken(token) { lastToken = token; }

/** The newest token of this tab's user. The stored one counts only if it is of the same guest: another tab may have renewed it. */
export function newestToken() {
  const stored = isGuest ? keptGuest() : null;
  return stored && isSameGuest(stored, lastToken) ? stored : lastToken;
}

/**
 * Sends a request that is not a command of the client.
 * @param {string} path
 * @param {object} body
 * @param {string} [token] of the user, if the request needs one
 */
export async function ask(path, body, token) {
  let response;
  let answer;
  try {
    response = await fetch(path, { method: 'POST', body: JSON.stringify(body), ...token && { headers: { Authorization: `Bearer ${token}` } } });
    answer = await response.json();
  } catch (cause) {
    throw Object.assign(new Error('no answer', { cause }), { word: 'unreachable' });
  }
  if (!response.ok) throw new RefusedError(answer.error);
  return answer;
}

/** Sends a request as the signed-in user. @param {string} path @param {object} body */
export function askAsUser(path, body) { return ask(`v1/${path}`, body, newestToken()); }

/** Sends a request as the guest of this window. @param {'profile'|'device_code'} path @param {object} body */
export function askAsGuest(path, body) { return ask(`v1/guests/${path}`, body, newestToken()); }
