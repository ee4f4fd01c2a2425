// What this browser stores for the page: short texts by name. If a browser forbids storage, as some do in frames, they
// last as long as the page.

/** @type {Map<string, string>} */
const here = new Map();

/** @param {string} name @returns {string|null} */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return here.get(name) ?? null;
  }
}

/** @param {string} name @param {string|null} text null: forgets it */
export function keep(name, text) {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    if (text === null) here.delete(name);
    else here.set(name, text);
  }
}

/** The names that begin with a text. @param {string} begin @returns {string[]} */
export function keptNames(begin) {
  let names = [...here.keys()];
  try {
    names = names.concat(Object.keys(localStorage));
  } catch {
    // Only the page itself has stored something.
  }
  return names.filter((name) => name.startsWith(begin));
}

/** The name of the database with the last messages (model/saved.js). */
export const savedName = 'hongbao';

/** Drops the last messages: the user signs out. */
export async function forgetSaved() {
  try {
    const request = indexedDB.deleteDatabase(savedName);
    await new Promise((resolve) => { request.onsuccess = request.onerror = request.onblocked = resolve; });
  } catch {
    // The browser keeps nothing.
  }
}

/** Begins the names of a user's unsent messages. No id contains a slash. @param {string} user */
export function unsentOf(user) { return `hongbao-unsent/${user}/`; }

/** Begins the names of the announcements that the user has closed. */
export const announcementOf = 'hongbao-announcement/';

/** Drops what a user has written and closed: the user signs out. @param {string} user */
export function forgetWritten(user) {
  for (const begin of [unsentOf(user), announcementOf]) for (const name of keptNames(begin)) keep(name, null);
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith('hongbao-')) sessionStorage.removeItem(name);
  } catch {
    // Nothing was stored.
  }
}
