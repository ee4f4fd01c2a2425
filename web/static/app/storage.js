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

/** Drops what this tab alone has stored, such as drafts, when its user signs out. */
export function forgetTab() {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith('hongbao-')) sessionStorage.removeItem(name);
  } catch {
    // Nothing was stored.
  }
}
