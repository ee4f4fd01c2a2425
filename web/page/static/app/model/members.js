// The loaded members of a room but the server, kept up to date by events: the owner, admins, then the others, each in order of
// entering.
import { state, change } from '../state.js';
import { addPage, emptyPages } from './pages.js';

/** @typedef {import('../state.js').Member} Member */

const longest = 2 ** 31 - 1; // ms; the longest timer
const ranks = { owner: 0, admin: 1, member: 2 };

/**
 * Members that were read replace what was known before.
 * @param {import('../state.js').RoomView} view @param {Member[]} members @param {string|undefined} next
 */
export function setMembers(view, members, next) {
  const { scroll } = view.members;
  view.members = { ...emptyPages(), scroll };
  addMembers(view, members, next);
}

/** Adds the next page. @param {import('../state.js').RoomView} view @param {Member[]} members @param {string|undefined} next */
export function addMembers(view, members, next) {
  for (const m of members) {
    state.people.set(m.user.id, m.user);
    state.online.set(m.user.id, m.online);
    view.readers.set(m.user.id, Math.max(m.read_seq ?? 0, view.readers.get(m.user.id) ?? 0));
  }
  addPage(view.members, members.filter((m) => !isSystemUser(m.user.id)), next, idOf);
}

/** The online members, as the server returns them. @param {string} room @param {{online: number, users?: string[]}} got */
export function setPresent(room, { online, users }) {
  const view = state.rooms.get(room);
  if (!view) return;
  for (const user of view.present ?? []) state.online.set(user, false);
  for (const user of users ?? []) state.online.set(user, true);
  view.present = users ? new Set(users) : null;
  view.online = online;
}

/** Whether an id is of the host's back end, or of the owner of the lobby: nobody reads there, and nobody opens packets. @param {string} id */
export function isSystemUser(id) { return id === '~system' || id === 'guest:lobby'; }

function idOf(member) { return member.user.id; }

/** @param {import('../state.js').RoomView} view @param {string} user @returns {Member|undefined} undefined: not in it, or not loaded */
export function memberOf(view, user) { return view.members.items.find((m) => m.user.id === user); }

/** Applies a member entry. @param {import('../state.js').RoomView} view @param {import('../../sdk/types.js').MemberBody} body */
export function noteMember(view, { user, change: what, role, until, users = [] }) {
  const { members } = view;
  if (!members.loaded) return;
  switch (what) {
    case 'invited':
      if (members.complete) put(members, { user: personOf(user), role: 'member', online: !!state.online.get(user) });
      return;
    case 'added':
      if (members.complete) for (const id of users) put(members, { user: personOf(id), role: 'member', online: !!state.online.get(id) });
      return;
    case 'removed':
      members.items = members.items.filter((m) => !users.includes(m.user.id));
      return;
    case 'kicked': case 'banned': case 'left_private':
      members.items = members.items.filter((m) => m.user.id !== user);
      return;
    case 'role':
      put(members, { ...(memberOf(view, user) ?? { user: personOf(user), online: !!state.online.get(user) }), role });
      return;
    case 'muted':
      members.items = members.items.map((m) => (m.user.id === user ? { ...m, muted_until: until } : m));
      return;
    default:
  }
}

function personOf(user) { return state.people.get(user) ?? { id: user, name: user }; }

/** Inserts a member at the position of the role, or moves a known member there. */
function put(members, member) {
  const at = members.items.findIndex((m) => m.user.id === member.user.id);
  const items = members.items.slice();
  if (at < 0) items.push(member);
  else items[at] = member;
  members.items = items.sort((a, b) => ranks[a.role] - ranks[b.role]);
}

/** The end of the user's own mute, by the latest entry about it. @param {import('../state.js').RoomView} view @param {any} e */
export function noteMute(view, e) {
  if (e.kind !== 'member' || e.body.user !== state.me.id || e.seq <= (view.mute?.seq ?? 0)) return;
  if (e.body.change === 'muted') view.mute = { seq: e.seq, until: e.body.until ?? 0 };
  else if (e.body.role === 'owner') view.mute = { seq: e.seq, until: 0 }; // an owner is not muted, and no entry records that
  const left = (view.mute?.until ?? 0) - Date.now();
  if (left > 0 && left < longest) setTimeout(change, left + 50); // when the mute ends, the user may send again
}

/** Whether the member is muted now. @param {Member|undefined} member */
export function isMuted(member) { return (member?.muted_until ?? 0) > Date.now(); }

/**
 * Whether the user may remove and mute another one. The owner may do so to all others, admins to plain members and to
 * former members.
 * @param {import('../state.js').RoomView} view @param {string} user
 */
export function isAbove(view, user) {
  const { role, kind } = view.room;
  if (kind === 'direct' || user === state.me?.id) return false;
  const other = memberOf(view, user)?.role;
  return role === 'owner' || (role === 'admin' && other !== 'owner' && other !== 'admin');
}
