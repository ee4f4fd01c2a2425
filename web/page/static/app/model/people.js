// The users that this page has met, as views offer them.
import { state } from '../state.js';
import { isServer } from './members.js';

/** Known people but the user, by name. */
export function peopleMet() {
  return [...state.people.values()].filter((user) => user.id && user.id !== state.me?.id && !isServer(user.id))
    .sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id, state.lang));
}

/**
 * The id of a user that another one shares the name with; '': the name is enough.
 * @param {import('../state.js').User} user @param {import('../state.js').User[]} people
 */
export function distinction(user, people) {
  return user.name && people.some((other) => other.id !== user.id && other.name === user.name) ? user.id : '';
}
