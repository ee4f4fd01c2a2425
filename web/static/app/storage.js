// What this browser keeps for the page: short texts by name. Where a browser forbids it, as some do in frames, they last as
// long as the page does.

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

/** What this tab alone has kept, drafts and the like, goes with the one who has written it. */
export function forgetTab() {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith('hongbao-')) sessionStorage.removeItem(name);
  } catch {
    // Nothing was kept.
  }
}
