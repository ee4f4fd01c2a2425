// The text of a room's row in the list.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { lookedAt } from '../actions/lasts.js';
import { blockedIds, isHidden } from '../model/blocked.js';
import { filesInWords } from '../model/files.js';
import { tint } from './tint.js';

/** @typedef {import('../state.js').RoomView} RoomView */

/**
 * The last message and its sender; a draft or a failed message comes before it.
 * @param {RoomView} view
 * @returns {{mark: string, text: string}} mark: the kind of message, in brackets; '' for a text
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
  if (isHidden(view, last.item)) return { mark: '', text: blockedIds() ? t('timeline.blocked', { count: 1 }) : '…' };
  const who = by(view, from);
  if (kind === 'packet') return { mark: t('rooms.packet'), text: who + flat(body.greeting) };
  if (body.recalled) return { mark: '', text: body.retired ? t('timeline.retired') : recalled(from, body.by) };
  const mark = filesInWords(body);
  return body.text ? { mark, text: who + flat(body.text) } : { mark: mark || t('rooms.data'), text: sender(view, from) };
}

/** @param {import('../state.js').User} from @param {import('../state.js').User} [by] unknown if only the message was loaded */
function recalled(from, by) {
  if (!by) return t('timeline.recalled');
  const name = by.id === state.me?.id ? null : by.name || by.id;
  return t(by.id === from.id ? 'rooms.recalled' : 'rooms.removed', { name });
}

/** In a direct room the sender of others' messages is known. @param {RoomView} view @param {import('../state.js').User} from */
function by(view, from) {
  if (from.id === state.me?.id) return t('rooms.by', { name: t('you') });
  return view.room.kind === 'direct' ? '' : t('rooms.by', { name: from.name || from.id });
}

/** The same, alone. @param {RoomView} view @param {import('../state.js').User} from */
function sender(view, from) {
  if (from.id === state.me?.id) return t('you');
  return view.room.kind === 'direct' ? '' : from.name || from.id;
}

/** On one line, and no longer than is visible. @param {string} text */
function flat(text) { return text.slice(0, 200).replace(/\s+/g, ' '); }

/**
 * A room's icon: its first letter on a tint of its own; square, because user icons are round.
 * @param {{id: string, name: string}} props
 */
export function RoomSign({ id, name }) {
  return h('span', { class: `avatar room-sign tint-${tint(id)}`, 'aria-hidden': 'true' }, [...name.trim()][0]?.toLocaleUpperCase() ?? '#');
}
