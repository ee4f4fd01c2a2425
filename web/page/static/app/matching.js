// Reports whether a name matches a search. Case and full-width forms of letters are ignored.

/** @param {string} text */
function plain(text) { return text.normalize('NFKC').toLocaleLowerCase().trim(); }

/** @param {string} name @param {string} wanted '': everything matches */
export function holds(name, wanted) { return plain(name).includes(plain(wanted)); }

/** Whether the user's name or id matches. @param {import('./state.js').User} user @param {string} wanted */
export function isCalled(user, wanted) { return holds(user.name ?? '', wanted) || holds(user.id, wanted); }
