// Blocks, and the setting of which users may contact the user. They are read at each connect.
import { state, change, toast } from '../state.js';
import { client } from '../client.js';
import { inWords } from '../words.js';
import { blockedIds } from '../model/blocked.js';

let changes = 0; // so far; a reply may be older than the last one

const tries = 5; // before the page goes on without them
const pause = 1000; // ms after the first failure; each further one takes twice as long

/** @type {Promise<void>|undefined} */
let known;

/** Resolves when it is known which users are blocked. Until then no text of a room with others is shown. */
export function blockedKnown() {
  if (blockedIds()) return Promise.resolve();
  known ??= learnBlocked().finally(() => { known = undefined; });
  return known;
}

async function learnBlocked() {
  for (let n = 0; !blockedIds(); n++) {
    await loadContacts();
    if (blockedIds()) return;
    if (n === tries) change(() => { state.blockedBefore = []; }); // the server answers, but not this
    else await new Promise((resolve) => { setTimeout(resolve, pause * 2 ** n); });
  }
}

/** @type {Promise<void>|undefined} */
let reading;

/** Reads the contacts. Until then, and if that fails, no view offers to change them. */
export function loadContacts() {
  reading ??= readContacts().finally(() => { reading = undefined; });
  return reading;
}

async function readContacts() {
  try {
    let contacts;
    let before;
    do {
      before = changes;
      contacts = await client.contacts();
    } while (before !== changes);
    change(() => { state.contacts = contacts; });
  } catch { /* the next view tries again */ }
}

/** Applies a change of this or another device. @param {import('../../sdk/types.js').ContactsEvent} e */
export function contactsChanged({ contact, user, blocked }) {
  changes++;
  const before = state.contacts;
  if (!before) return;
  const others = before.blocked.filter((other) => other.id !== user);
  state.contacts = {
    contact: contact ?? before.contact,
    blocked: user && blocked ? [...others, state.people.get(user) ?? { id: user, name: '' }] : others,
  };
}

/** @param {import('../state.js').User} user */
export const block = (user) => applied(client.block(user.id), { user: user.id, blocked: true });

/** @param {import('../state.js').User} user */
export const unblock = (user) => applied(client.unblock(user.id), { user: user.id });

/**
 * Applies a change of this device, in case its push was dropped. A push comes before the reply, and a change of another device may follow it.
 * @param {Promise<unknown>} call @param {import('../../sdk/types.js').ContactsEvent} e
 */
async function applied(call, e) {
  const before = changes;
  await call;
  if (changes === before) change(() => contactsChanged(e));
}

/** @param {import('../../sdk/types.js').Contact} contact */
export async function setContact(contact) {
  try {
    await applied(client.setContact(contact), { contact });
  } catch (error) {
    toast(inWords(error));
    await loadContacts();
  }
}
