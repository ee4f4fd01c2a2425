// Whether a name is what somebody looks for: whatever the case and the width of its letters.

/** @param {string} text */
function plain(text) { return text.normalize('NFKC').toLocaleLowerCase().trim(); }

/** @param {string} name @param {string} wanted '': everything is */
export function holds(name, wanted) { return plain(name).includes(plain(wanted)); }

/** Does somebody go by such a name or id? @param {import('./state.js').User} user @param {string} wanted */
export function isCalled(user, wanted) { return holds(user.name ?? '', wanted) || holds(user.id, wanted); }
