// The users that this page has met.
import { state } from '../state.js';
import { holds } from '../matching.js';
import { isSystemUser } from './members.js';

/** Stores a user. @param {import('../state.js').User} user */
export function meet(user) { state.people.set(user.id, user); }

/**
 * Records the sender; in a direct room that may be the other user, who has left it.
 * @param {import('../state.js').RoomView} view @param {import('../state.js').User} user
 */
export function meetIn(view, user) {
  meet(user);
  if (view.room.kind === 'direct' && user.id !== state.me.id) view.other ??= user;
}

/** Whether the mark of guests tells anything: some of the people that the user has met are none. */
export function marksGuests() {
  for (const { id, guest } of state.people.values()) if (!guest && !isSystemUser(id)) return true;
  return false;
}

/** Known people but the user, by name. */
export function peopleMet() {
  return [...state.people.values()].filter((user) => user.id && user.id !== state.me?.id && !isSystemUser(user.id))
    .sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id, state.lang));
}

/** Known people whose name contains the text, or whose id it is. @param {string} text @param {number} most */
export function peopleCalled(text, most) { return peopleMet().filter((user) => holds(user.name, text) || user.id === text).slice(0, most); }

/**
 * The id of a user that another one shares the name with; '': the name is enough.
 * @param {import('../state.js').User} user @param {import('../state.js').User[]} people
 */
export function distinction(user, people) {
  return user.name && people.some((other) => other.id !== user.id && other.name === user.name) ? user.id : '';
}
