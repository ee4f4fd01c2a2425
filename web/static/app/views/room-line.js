// What a room's line in the list says.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { lookedAt } from '../actions/lasts.js';
import { tint } from './tint.js';

/** @typedef {import('../state.js').RoomView} RoomView */

/**
 * The last thing said, and by whom; what one has begun or not got sent comes before it.
 * @param {RoomView} view
 * @returns {{mark: string, text: string}} mark: what kind of thing it is, in brackets; '' for a text
 */
export function lineOf(view) {
  const { draft, outbox, last } = view;
  const isDraft = draft.text.trim() && draft.editing === null && state.route.room !== view.room.id;
  if (isDraft) return { mark: t('rooms.draft'), text: flat(draft.text) };
  if (outbox.some((s) => s.status === 'failed')) return { mark: t('rooms.unsent'), text: flat(outbox.at(-1)?.request.text ?? '') };
  const [typist] = [...view.typing].filter(([, until]) => until > Date.now());
  if (typist) return { mark: '', text: t('room.typing', { names: [state.people.get(typist[0])?.name ?? '…'], count: view.typing.size }) };
  if (!last) return { mark: '', text: '' };
  if (!last.item) return { mark: '', text: view.room.last_seq > lookedAt ? '' : t('rooms.nothing') };
  const { kind, body, from } = last.item;
  const who = by(view, from);
  if (kind === 'packet') return { mark: t('rooms.packet'), text: who + flat(body.greeting) };
  if (body.recalled) return { mark: '', text: t('rooms.recalled', { name: from.id === state.me?.id ? null : from.name }) };
  return body.text ? { mark: '', text: who + flat(body.text) } : { mark: t('rooms.data'), text: who };
}

/** In a direct room there is only one who could have said it. @param {RoomView} view @param {import('../state.js').User} from */
function by(view, from) {
  if (from.id === state.me?.id) return t('rooms.by', { name: t('you') });
  return view.room.kind === 'direct' ? '' : t('rooms.by', { name: from.name || from.id });
}

/** On one line, and no longer than can be seen. @param {string} text */
function flat(text) { return text.slice(0, 200).replace(/\s+/g, ' '); }

/** A room's sign: its first letter on a tint of its own; square, for people are round. @param {{id: string, name: string}} props */
export function RoomSign({ id, name }) {
  return h('span', { class: `avatar room-sign tint-${tint(id)}`, 'aria-hidden': 'true' }, [...name.trim()][0]?.toLocaleUpperCase() ?? '#');
}
