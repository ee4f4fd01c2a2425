// The golden frames of the wire, each through the vendored SDK to what a program hears or gets.

import { RefusedError } from '/sdk/index.js';
import { pushEvents } from '/sdk/methods.js';
import { Ear, equal, failure, ok } from './check.js';
import { requests } from './requests.js';
import { Script, inRoom } from './script.js';

const frames = await (await fetch('/golden.json')).json(); // by name

/** The calls of commands that client.js has by hand, beside those of requests. */
const calls = {
  ...requests,
  kick: [(c) => c.kick('r', 'u', true), { room: 'r', user: 'u', ban: true }],
  delete_room: [(c) => c.deleteRoom('r'), { room: 'r' }],
  send_packet: [(c) => c.sendPacket({ room: 'r', total: 10, key: 'k' }), { room: 'r', total: 10, key: 'k' }],
  grab: [(c) => c.grab('p-1', 'x'), { packet: 'p-1', passphrase: 'x' }],
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
  else equal(await ear.next(pushEvents[name]), told[name]);
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
