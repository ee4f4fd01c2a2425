// What this browser stores for the page: short texts by name. If a browser forbids storage, as some do in frames, or has no room for more,
// they last as long as the page.

/** Shelf is a storage of the browser, and what the browser did not take. */
export class Shelf {
  /** @type {Map<string, string>} */
  #here = new Map(); // it is newer than what the browser has
  #area;

  /** @param {() => Storage} area it fails if the browser forbids storage */
  constructor(area) { this.#area = area; }

  /** @param {string} name @returns {string|null} */
  get(name) {
    const text = this.#here.get(name);
    if (text !== undefined) return text;
    try {
      return this.#area().getItem(name);
    } catch {
      return null;
    }
  }

  /** @param {string} name @param {string|null} text null: forgets it */
  set(name, text) {
    this.#here.delete(name);
    try {
      if (text === null) this.#area().removeItem(name);
      else this.#area().setItem(name, text);
    } catch {
      if (text !== null) this.#here.set(name, text);
    }
  }

  /** The names that begin with a text. @param {string} begin @returns {string[]} */
  names(begin) {
    const names = new Set(this.#here.keys());
    try {
      for (const name of Object.keys(this.#area())) names.add(name);
    } catch {
      // Only the page itself has stored something.
    }
    return [...names].filter((name) => name.startsWith(begin));
  }

  /** Another tab has stored a newer text. @param {string|null} name null: it has deleted all */
  forget(name) {
    if (name === null) this.#here.clear();
    else this.#here.delete(name);
  }
}

const local = new Shelf(() => localStorage);
/** What lasts as long as the tab. */
export const ofTab = new Shelf(() => sessionStorage);
addEventListener('storage', (e) => local.forget(e.key)); // only another tab causes it

/** @param {string} name @returns {string|null} */
export function kept(name) { return local.get(name); }

/** @param {string} name @param {string|null} text null: forgets it */
export function keep(name, text) { local.set(name, text); }

/** The names that begin with a text. @param {string} begin @returns {string[]} */
export function keptNames(begin) { return local.names(begin); }

/** The name of the database with the last messages (model/saved.js). */
export const savedName = 'hongbao';

/** The name of the database with files that are not uploaded yet (model/pending.js). */
export const pendingName = 'hongbao-pending';

/** Drops the last messages, and files that are not uploaded yet: the user signs out. */
export async function forgetSaved() {
  for (const name of [savedName, pendingName]) {
    try {
      const request = indexedDB.deleteDatabase(name);
      await new Promise((resolve) => { request.onsuccess = request.onerror = request.onblocked = resolve; });
    } catch {
      // The browser keeps nothing.
    }
  }
}

/** Begins the names of a user's unsent messages. No id contains a slash. @param {string} user */
export function unsentOf(user) { return `hongbao-unsent/${user}/`; }

/** Begins the names of the keys by which a user has made links of rooms. @param {string} user */
export function linksOf(user) { return `hongbao-link/${user}/`; }

/** The name of the room that a user had open last. @param {string} user */
export function lastRoomOf(user) { return `hongbao-room/${user}`; }

/** Begins the names of the announcements that the user has closed. */
export const announcementOf = 'hongbao-announcement/';

/** Drops what a user has written and closed: the user signs out. @param {string} user */
export function forgetWritten(user) {
  keep(lastRoomOf(user), null);
  for (const begin of [unsentOf(user), linksOf(user), announcementOf]) for (const name of keptNames(begin)) keep(name, null);
  for (const name of ofTab.names('hongbao-')) ofTab.set(name, null);
}
