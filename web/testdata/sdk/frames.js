// The golden frames of the wire, each through the vendored SDK to what a program hears or gets.

import { RefusedError } from '/sdk/index.js';
import { Ear, equal, failure, ok } from './check.js';
import { Script, inRoom } from './script.js';

const frames = await (await fetch('/golden.json')).json(); // by name

const events = {
  typing: 'typing', presence: 'presence', read: 'read', packet_progress: 'progress', wallet: 'wallet',
  members: 'memberCount', contacts: 'contacts', room_prefs: 'roomPrefs', join_requests: 'joinRequested',
  join_refused: 'joinRefused',
};

/** How each reply is asked for, and what must have been asked. */
const calls = {
  create_room: [(c) => c.createRoom({ name: 'n', kind: 'private', key: 'k' }), { name: 'n', kind: 'private', key: 'k' }],
  direct: [(c) => c.direct('u'), { user: 'u' }],
  join: [(c) => c.join('r'), { room: 'r' }],
  leave: [(c) => c.leave('r'), { room: 'r' }],
  rooms: [(c) => c.rooms({ next: 'n', limit: 3 }), { next: 'n', limit: 3 }],
  find_rooms: [(c) => c.findRooms({ query: 'q', limit: 3 }), { query: 'q', limit: 3 }],
  block: [(c) => c.block('u'), { user: 'u' }],
  unblock: [(c) => c.unblock('u'), { user: 'u' }],
  set_contact: [(c) => c.setContact('shared'), { contact: 'shared' }],
  contacts: [(c) => c.contacts(), {}],
  users: [(c) => c.users(['u', 'v']), { users: ['u', 'v'] }],
  invite: [(c) => c.invite('r', ['u', 'v']), { room: 'r', users: ['u', 'v'] }],
  create_link: [(c) => c.createLink({ room: 'r', ttl_s: 60, key: 'k' }), { room: 'r', ttl_s: 60, key: 'k' }],
  links: [(c) => c.links('r'), { room: 'r' }],
  revoke_link: [(c) => c.revokeLink('r', 'l'), { room: 'r', link: 'l' }],
  join_link: [(c) => c.joinLink('x'), { code: 'x' }],
  join_requests: [(c) => c.joinRequests('r'), { room: 'r' }],
  answer_request: [(c) => c.answerRequest('r', 'u', true), { room: 'r', user: 'u', admit: true }],
  kick: [(c) => c.kick('r', 'u', true), { room: 'r', user: 'u', ban: true }],
  unban: [(c) => c.unban('r', 'u'), { room: 'r', user: 'u' }],
  set_role: [(c) => c.setRole('r', 'u', 'admin'), { room: 'r', user: 'u', role: 'admin' }],
  mute: [(c) => c.mute('r', 'u', 60), { room: 'r', user: 'u', seconds: 60 }],
  update_room: [(c) => c.updateRoom({ room: 'r', announcement: '' }), { room: 'r', announcement: '' }],
  delete_room: [(c) => c.deleteRoom('r'), { room: 'r' }],
  set_room_prefs: [(c) => c.setRoomPrefs({ room: 'r', silent: true }), { room: 'r', silent: true }],
  push_key: [(c) => c.pushKey(), {}],
  subscribe_push: [(c) => c.subscribePush({ endpoint: 'e', p256dh: 'p', auth: 'a' }), { endpoint: 'e', p256dh: 'p', auth: 'a' }],
  unsubscribe_push: [(c) => c.unsubscribePush('e'), { endpoint: 'e' }],
  members: [(c) => c.members({ room: 'r', next: 'n' }), { room: 'r', next: 'n' }],
  send: [(c) => c.send({ room: 'r', text: 't', reply_to: 4, key: 'k' }), { room: 'r', text: 't', reply_to: 4, key: 'k' }],
  edit: [(c) => c.edit('r', 4, 't'), { room: 'r', seq: 4, text: 't' }],
  recall: [(c) => c.recall('r', 4), { room: 'r', seq: 4 }],
  react: [(c) => c.react('r', 4, '👍', false), { room: 'r', seq: 4, emoji: '👍', on: false }],
  report: [(c) => c.report({ room: 'r', seq: 4, reason: 'spam', key: 'k' }), { room: 'r', seq: 4, reason: 'spam', key: 'k' }],
  mentions: [(c) => c.mentions({ next: 'n' }), { next: 'n' }],
  history: [(c) => c.history({ room: 'r', after: 0 }), { room: 'r', after: 0 }],
  read: [(c) => c.read('r', 4), { room: 'r', seq: 4 }],
  presence: [(c) => c.presence('r'), { room: 'r' }],
  send_packet: [(c) => c.sendPacket({ room: 'r', total: 10, key: 'k' }), { room: 'r', total: 10, key: 'k' }],
  grab: [(c) => c.grab('p-1', 'x'), { packet: 'p-1', passphrase: 'x' }],
  packet: [(c) => c.packet({ packet: 'p', after_rank: 3 }), { packet: 'p', after_rank: 3 }],
  cancel_packet: [(c) => c.cancelPacket('p'), { packet: 'p' }],
  packets: [(c) => c.packets({ direction: 'sent' }), { direction: 'sent' }],
  wallet: [(c) => c.wallet(), {}],
};

/** connected is a client of a script, in the room of the golden frames or not. */
async function connected(rooms, answer) {
  const script = new Script({ ...inRoom(0), rooms }, answer);
  const client = script.client();
  const ear = new Ear(client);
  await ear.next('ready');
  return { script, client, ear };
}

const hall = (lastSeq) => [{ ...frames.connect.connect.data.rooms[0], last_seq: lastSeq }];

async function tellPush({ push }) {
  if (push.pub) {
    const { script, client, ear } = await connected(hall(push.pub.offset - 1));
    script.say({ push });
    equal(await ear.next('entry'), { room: 'r-1', entry: push.pub.data });
    return client;
  }
  if (push.subscribe) {
    const { script, client, ear } = await connected([]);
    script.say({ push });
    const room = push.subscribe.data.room;
    equal(await ear.next('entered'), { room: { ...room, read_seq: room.last_seq, unread: 0 } });
    return client;
  }
  const { script, client, ear } = await connected(hall(0));
  script.say({ push });
  const told = push.message?.data ?? { unsubscribe: {} };
  const [name] = Object.keys(told);
  if (name === 'left') script.say(frames['push-unsubscribe']);
  if (name === 'left') equal(await ear.next('left'), { room: 'r-1', reason: 'left' });
  else if (name === 'unsubscribe') equal(await ear.next('left'), { room: 'r-1', reason: '' });
  else equal(await ear.next(events[name]), told[name]);
  return client;
}

async function tellReply(name, { rpc }) {
  const method = name.split('-')[1];
  ok(calls[method], `nobody asks for ${method}`);
  const { script, client } = await connected(hall(0), () => rpc);
  const [ask, request] = calls[method];
  equal(await ask(client), rpc.data);
  equal(script.asked.at(-1), { method, data: request });
  if (typeof rpc.data.balance === 'number') equal(client.account.balance, rpc.data.balance);
  if (rpc.data.next_commitment) equal(client.account.nextCommitment, rpc.data.next_commitment);
  return client;
}

/** A ban that ends. */
async function tellBan() {
  const { script, client } = await connected(hall(0), () => frames['reply-kick'].rpc);
  await client.kick('r', 'u', { until: 5, reason: 'spam' });
  equal(script.asked.at(-1), { method: 'kick', data: { room: 'r', user: 'u', ban: true, until: 5, reason: 'spam' } });
  client.close();
}

async function tellError({ error }) {
  const { client } = await connected(hall(0), () => ({ error }));
  const refused = await failure(client.call('anything', {}, { patience: error.temporary ? 300 : Infinity }));
  ok(refused instanceof RefusedError, String(refused));
  const [word, ...pairs] = error.message.split(' ');
  const fields = Object.fromEntries(pairs.map((pair) => pair.split('=')));
  if (fields.retry_after_ms) fields.retry_after_ms = Number(fields.retry_after_ms);
  const { code, word: got, temporary } = refused;
  equal({ code, word: got, temporary, fields: refused.fields }, { code: error.code, word, temporary: !!error.temporary, fields });
  return client;
}

/** A connect reply that brings what was missed. */
async function tellConnect({ connect }) {
  const { script, client, ear } = await connected(hall(41));
  script.greeting = ({ id, connect: asked }) => {
    equal(asked.subs, { 'room:r-1': { recover: true, epoch: 'e', offset: 41 } });
    connect.subs['room:r-1'].epoch = 'e';
    return { id, connect };
  };
  script.hangUp(3001, 'drain');
  const { user, balance, account_version: version, currency, next_commitment: nextCommitment, limits, rooms, packet_states: states } = connect.data;
  equal(await ear.next('ready'), { user, account: { balance, version, currency, nextCommitment }, limits, rooms, states, again: true });
  equal([client.me, client.limits, client.account.balance], [user, limits, balance]);
  const [text, packet] = connect.subs['room:r-1'].publications;
  equal(await ear.next('entry'), { room: 'r-1', entry: text.data });
  equal(await ear.next('entry'), { room: 'r-1', entry: packet.data, state: states[0] });
  return client;
}

export async function everyFrame() {
  for (const [name, frame] of Object.entries(frames)) {
    try {
      let client;
      if (name === 'connect') client = await tellConnect(structuredClone(frame));
      else if (name === 'ping' || name === 'refresh') continue; // the vendored SDK's own: see the tests of tokens
      else if (frame.push) client = await tellPush(frame);
      else if (frame.rpc) client = await tellReply(name, frame);
      else if (frame.error) client = await tellError(frame);
      else throw new Error('nobody knows what this is');
      client.close();
    } catch (error) {
      throw new Error(`${name}: ${error.stack}`);
    }
  }
  await tellBan();
  const asked = Object.keys(frames).filter((name) => name.startsWith('reply-')).map((name) => name.split('-')[1]);
  equal(Object.keys(calls).filter((method) => !asked.includes(method)), [], 'methods without a golden reply');
}
