// Who one is, and the client that speaks for him. A guest is kept in this browser, so that a reload and a second tab are the
// same person; a token of the host page stays in memory.
import { Client } from '../sdk/index.js';
import { state, change } from './state.js';
import { listen } from './model/happenings.js';
import { hostToken } from './host.js';

const guestKey = 'hongbao-guest';

/** @type {Client|null} */
export let client = null;

/** Signs in whoever can be without being asked; else the door opens. */
export async function begin() {
  try {
    state.page = await (await fetch('page.json')).json();
  } catch (error) {
    setTimeout(begin, 3000);
    change(() => { state.door = { status: 'loading', error }; });
    return;
  }
  const token = await hostToken(state.page.hosts);
  if (token) enter(token, () => hostToken(state.page.hosts, true));
  else if (localStorage.getItem(guestKey)) enter(localStorage.getItem(guestKey));
  else change(() => { state.door = { status: 'open', error: null }; });
}

/** @param {string} name */
export async function enterAsGuest(name) {
  change(() => { state.door = { status: 'entering', error: null }; });
  try {
    const response = await fetch('v1/guests', { method: 'POST', body: JSON.stringify({ name }) });
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error.message), { word: answer.error.message.split(' ')[0] });
    localStorage.setItem(guestKey, answer.token);
    enter(answer.token);
  } catch (error) {
    change(() => { state.door = { status: 'open', error }; });
  }
}

/** @param {string} token @param {() => Promise<string|null>} [renew] */
export function enter(token, renew) {
  change(() => { state.door = { status: 'entering', error: null }; });
  const url = new URL('v1/socket', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  url.hash = '';
  let given = token;
  client = new Client(url.href, {
    name: 'web',
    getToken: async () => {
      const now = given;
      given = null;
      return now ?? (renew ? renew() : localStorage.getItem(guestKey));
    },
  });
  listen(client);
  client.on('link', (e) => { if (e.state === 'closed') ended(e); });
}

/** The server wants no more of this token: whoever has never been in may try another; others are told why. */
function ended(e) {
  if (e.code === 3500) localStorage.removeItem(guestKey);
  change(() => {
    const error = { word: `closed_${e.code}`, fields: {} };
    state.door = { status: state.me ? 'ended' : 'open', error };
  });
}

/** Forgets who one is in this browser. */
export function signOut() {
  localStorage.removeItem(guestKey);
  client?.close();
  location.hash = '';
  location.reload();
}
