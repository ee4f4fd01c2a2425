// The events of a room, as text.
import { state } from '../state.js';
import { t } from '../words.js';
import { untilTime } from '../format.js';

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

function member({ user, change, by, role, until }) {
  const values = { by: doer(by), user: whom(user), first: doer(user), me: user === state.me.id, mine: by === state.me.id };
  switch (change) {
    case 'role':
      return t(`timeline.role.${role}`, values);
    case 'muted':
      return until ? t('timeline.muted', { ...values, until: untilTime(until) }) : t('timeline.unmuted', values);
    default:
      return t(`timeline.member.${change}`, values);
  }
}

function room(id, { name, announcement }) {
  const by = doer(id);
  const said = [];
  if (name) said.push(t('timeline.renamed', { by, name }));
  if (announcement) said.push(t('timeline.announced', { by, announcement }));
  else if (announcement === '') said.push(t('timeline.unannounced', { by }));
  return said.join(' · ');
}

function packetDone({ packet, reason, state: s }) {
  const from = state.packets.get(packet)?.packet.from;
  const mine = from?.id === state.me.id;
  const name = from?.name ?? t('timeline.somebody');
  if (reason !== 'drained') return t(`timeline.${reason}`, { name, mine });
  const lucky = s.luckiest?.user;
  return t('timeline.drained', { name, mine, luckiest: lucky && state.people.has(lucky) ? doer(lucky) : '', me: lucky === state.me.id });
}
