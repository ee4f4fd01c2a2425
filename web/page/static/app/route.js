// The route: a room or an invite link, and a sheet over it, as the part of the address after '#'. The browser's back button closes a
// sheet, then the room.
import { state, change } from './state.js';

/** '#/room/<id>/<sheet>/<id>', '#/link/<code>/packet/<id>' and '#/<sheet>/<id>' @param {string} hash */
export function parse(hash) {
  const parts = hash.replace(/^#\/?/, '').split('/').map(decoded);
  let room = null;
  let link = null;
  if (parts[0] === 'room') [, room] = parts.splice(0, 2);
  else if (parts[0] === 'link') [, link] = parts.splice(0, 2);
  const [name, id] = parts;
  return { room: room || null, link: link || null, sheet: name ? { name, id } : null };
}

/** A link may come from anywhere: a part that cannot be decoded stays as it is. @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function address({ room, link, sheet }) {
  const parts = [];
  if (room) parts.push('room', room);
  if (link) parts.push('link', link);
  if (sheet) parts.push(sheet.name, ...(sheet.id ? [sheet.id] : []));
  return '#/' + parts.map(encodeURIComponent).join('/');
}

/** Follows the address, now and as it changes. */
export function followAddress() {
  const follow = () => change(() => { state.route = parse(location.hash); });
  addEventListener('popstate', follow);
  addEventListener('hashchange', follow);
  follow();
}

/** The address of this page at a place, for other people. @param {{room?: string, link?: string, sheet?: import('./state.js').Sheet}} place */
export function addressOf(place) { return new URL(address(place), location.href.split('#')[0]).href; }

/** Leaves an invite link. @param {{room?: string|null, sheet?: import('./state.js').Sheet|null}} to what is missing stays; a new room has no sheet */
export function go(to, { replace = false } = {}) {
  const next = {
    room: to.room === undefined ? state.route.room : to.room,
    link: null,
    sheet: to.sheet !== undefined ? to.sheet : to.room === undefined ? state.route.sheet : null,
  };
  if (address(next) === address(state.route)) return;
  if (replace) history.replaceState({ depth: depth() }, '', address(next));
  else history.pushState({ depth: depth() + 1 }, '', address(next));
  change(() => { state.route = next; });
}

function depth() { return history.state?.depth ?? 0; }

/** Goes back to the previous place, or to the level below this one when the page was opened here. */
export function back() {
  if (depth() > 0) history.back();
  else go(state.route.sheet ? { sheet: null } : { room: null }, { replace: true });
}

/** @param {string} name @param {string} [id] */
export function openSheet(name, id) { go({ sheet: { name, id } }); }
export function closeSheet() { if (state.route.sheet) back(); }
