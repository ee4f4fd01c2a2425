// The events of a room, as text.
import { state } from '../state.js';
import { t } from '../words.js';
import { untilTime } from '../format.js';
import { isUntold } from '../model/draws.js';
import { lastOpener } from '../model/packets.js';
import { isRain } from '../model/rain.js';
import { drawn } from './draw-words.js';
import { rained } from './rain-words.js';

/** @param {import('../model/timeline.js').Item} item */
export function calmWords(item) {
  const { kind, body, from } = item;
  if (kind === 'member') return member(body);
  if (kind === 'room') return room(from.id, body);
  if (kind === 'packet_done') return packetDone(body);
  return t('timeline.unknown');
}

/** The acting user, at the beginning of the sentence. */
function doer(id) { return id === state.me.id ? t('you') : named(id); }

function whom(id) { return id === state.me.id ? t('timeline.you') : named(id); }

function named(id) { return state.people.get(id)?.name || t('timeline.somebody'); }

function member({ user, change, by, role, until, count = 1 }) {
  const values = { by: doer(by), user: whom(user), first: doer(user), me: user === state.me.id, mine: by === state.me.id };
  switch (change) {
    case 'role':
      return t(`timeline.role.${role}`, values);
    case 'muted':
      return until ? t('timeline.muted', { ...values, until: untilTime(until) }) : t('timeline.unmuted', values);
    default:
      return t(`timeline.member.${change}`, { ...values, others: count - 1 });
  }
}

function room(id, { name, announcement, invite, guests, packets, frozen }) {
  const by = doer(id);
  const said = [];
  if (name) said.push(t('timeline.renamed', { by, name }));
  if (announcement) said.push(t('timeline.announced', { by, announcement }));
  else if (announcement === '') said.push(t('timeline.unannounced', { by }));
  if (invite) said.push(t(`timeline.inviters.${invite}`, { by }));
  if (guests !== undefined) said.push(t(guests ? 'timeline.guestsIn' : 'timeline.guestsOut', { by }));
  if (packets !== undefined) said.push(t(packets ? 'timeline.packetsOn' : 'timeline.packetsOff', { by }));
  if (frozen !== undefined) said.push(t(frozen ? 'timeline.frozen' : 'timeline.unfrozen', { by }));
  return said.join(' · ');
}

function packetDone({ packet, reason, state: s }) {
  const view = state.packets.get(packet);
  const from = view?.packet.from;
  const mine = from?.id === state.me.id;
  const name = from?.name ?? t('timeline.somebody');
  if (s.rain || (view && isRain(view.packet))) return t(reason === 'cancelled' ? 'timeline.cancelled' : 'timeline.rained', { name, mine, end: rained(s) });
  if (s.draw && reason !== 'cancelled') return t('timeline.drawn', { name, mine, end: isUntold(packet) ? t('draw.drawing') : drawn(s) });
  if (reason !== 'drained') return t(`timeline.${reason}`, { name, mine });
  const opener = view && view.packet.count === 1 && lastOpener({ ...view, state: s });
  if (opener) return t('timeline.openedYours', { name: opener });
  const lucky = state.sealed?.packet === packet ? undefined : s.luckiest?.user; // the envelope tells it first
  return t('timeline.drained', { name, mine, luckiest: lucky && state.people.has(lucky) ? doer(lucky) : '', me: lucky === state.me.id });
}
