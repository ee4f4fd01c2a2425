// Red packets where answers are late, lost or cross.

import { Ear, equal, failure, ok, pause } from './check.js';
import { leafOf, verifyReceipt } from '/sdk/draw.js';
import { commitmentOf } from '/sdk/verify.js';
import { Script, inRoom, refusal } from './script.js';

const sent = (more) => ({ data: { packet: {}, seq: 1, at: 1, balance: 5, next_commitment: 'c3', dup: false, ...more } });

const seed = '00'.repeat(32); // the seed of c1
const c1 = commitmentOf(seed);
const used = (more) => ({ id: 'p1', from: { id: 'ann', name: 'Ann' }, key: 'other', commitment: c1, ...more });

/** A server that has committed to c1, refuses it, names a packet, and then commits to c2. */
function refusing(packet, proof, named = ' packet=p1') {
  return new Script({ ...inRoom(0), next_commitment: c1 }, (method, data) => {
    if (method === 'packet') return packet ? { data: { packet, state: {}, claims: [], more: false, proof } } : refusal(1001, 'not_found');
    return data.commitment === 'c2' ? sent() : refusal(1008, `conflict next_commitment=c2${named}`);
  });
}

/** A refused seed is believed only if the user's packet that has used it is shown. Otherwise the conflict is an error, and there is no new draw. */
export async function conflictWithoutReason() {
  for (const [what, script] of [
    ['no packet is named', refusing(used(), undefined, '')],
    ['the packet does not exist', refusing(undefined)],
    ['the packet is of another user', refusing(used({ from: { id: 'bob', name: 'Bob' } }))],
    ['the packet has another commitment', refusing(used({ commitment: 'c0' }))],
    ['the packet is another one', refusing(used({ id: 'p2' }))],
    ['the packet has ended with another seed', refusing(used(), { seed: '11'.repeat(32), commitment: c1, shares: [] })],
  ]) {
    const client = script.client();
    const error = await failure(client.sendPacket({ room: 'r', total: 10, count: 2 }));
    equal([error.word, script.count('send_packet')], ['conflict', 1], what);
    await client.sendPacket({ room: 'r', total: 10, count: 2 }); // the user wants it all the same
    client.close();
  }
}

/** A server that names its packets, one after the other, gets a few draws and no more. */
export async function conflictsWithoutEnd() {
  let n = 0;
  const script = new Script({ ...inRoom(0), next_commitment: 'd0' }, (method, data) => {
    if (method === 'packet') return { data: { packet: used({ id: data.packet, commitment: `d${n - 1}` }), state: {}, claims: [], more: false } };
    n++;
    return refusal(1008, `conflict next_commitment=d${n} packet=p${n}`);
  });
  equal((await failure(script.client().sendPacket({ room: 'r', total: 10, count: 2 }))).word, 'conflict');
  equal(script.count('send_packet'), 4);
}

/** The packet that has used the seed ends with another seed: that is told. */
export async function conflictThatWasNone() {
  for (const [last, mismatches] of [[seed, 0], ['11'.repeat(32), 1]]) {
    const script = refusing(used());
    const client = script.client();
    const told = [];
    client.on('seedMismatch', (e) => told.push(e));
    const ear = new Ear(client);
    await client.sendPacket({ room: 'r', total: 10, count: 2 });
    script.enter('r', 1, 'packet_done', { packet: 'p1', reason: 'expired', state: {}, seed: last });
    await ear.next('entry');
    equal(told, Array(mismatches).fill({ packet: 'p1', commitment: c1 }));
    client.close();
  }
}

/** The program hears of each draw, so that it can send the same draw again. */
export async function drawsAreTold() {
  const script = refusing(used());
  const drawn = [];
  await script.client().sendPacket({ room: 'r', total: 10, count: 2, key: 'first', commitment: c1 }, { onDraw: (draw) => drawn.push(draw) });
  const [a, b] = script.asked.filter((one) => one.method === 'send_packet').map(({ data: { key, commitment } }) => ({ key, commitment }));
  equal([a, drawn], [{ key: 'first', commitment: c1 }, [b]]);
}

/** The seed was used up by another device: a new key, and the seed that the server has committed to by now. */
export async function conflict() {
  const script = refusing(used(), { seed, commitment: c1, shares: [] });
  const client = script.client();
  await client.sendPacket({ room: 'r', total: 10, count: 2 });
  const [a, , b] = script.asked.slice(1).map((one) => one.data);
  ok(a.commitment === c1 && a.key && a.key !== b.key, JSON.stringify([a, b]));
  equal([client.account.balance, client.account.nextCommitment], [5, 'c3']);
  const error = await failure(client.sendPacket({ room: 'r', total: 10, count: 2, key: 'mine', commitment: 'c1' }));
  equal([error.word, error.fields, script.asked.length], ['conflict', { next_commitment: 'c2', packet: 'p1' }, 5]);
}

/** The seed was used up by a try of ours that nobody answered: the packet is there, and is not sent again. */
export async function conflictWithOneself() {
  let n = 0;
  const answers = [refusal(1000, 'unavailable', true), refusal(1008, 'conflict next_commitment=c2'), sent({ dup: true })];
  const script = new Script(inRoom(0), () => answers[n++]);
  const reply = await script.client().sendPacket({ room: 'r', total: 10, count: 2 });
  const keys = script.asked.slice(1).map((one) => one.data.key);
  ok(reply.dup && keys.length === 3 && keys.every((key) => key === keys[0]), JSON.stringify(script.asked));
}

/** A grab whose answer is lost is sent again, and the answer says so. */
export async function repeatedGrab() {
  let n = 0;
  const answers = [refusal(1000, 'unavailable', true), { data: { packet: 'p', outcome: 'already', amount: 7, rank: 1, at: 1, claimed: 1, count: 2 } }];
  const script = new Script(inRoom(0), () => answers[n++]);
  const reply = await script.client().grab('p', 'sesame');
  equal([reply.outcome, reply.amount, reply.repeated, script.count('grab')], ['already', 7, true, 2]);
  equal(script.asked.at(-1).data, { packet: 'p', passphrase: 'sesame' });
}

/** A receipt must be of the packet and the user, have the leaf of both, and the key with which the server signs. */
export async function receipts() {
  const key = 'ab'.repeat(32);
  const script = new Script({ ...inRoom(0), receipt_key: key });
  const client = script.client();
  await new Ear(client).next('ready');
  const packet = { id: 'p', from: { id: 'bob', name: 'Bob' }, key: 'k' };
  const receipt = { packet: 'p', user: client.me.id, leaf: leafOf('bob', 'k', 0, client.me.id), at: 1, key, signature: '00'.repeat(64) };
  const whole = await client.checkReceipt(packet, receipt); // whose signature is bad, if this browser can tell
  for (const [what, changed] of [
    ['none', undefined],
    ['another packet', { ...receipt, packet: 'q' }],
    ['another user', { ...receipt, user: 'bob', leaf: leafOf('bob', 'k', 0, 'bob') }],
    ['another leaf', { ...receipt, leaf: leafOf('bob', 'other', 0, client.me.id) }],
    ['another key', { ...receipt, key: 'cd'.repeat(32) }],
  ]) equal(await client.checkReceipt(packet, changed), 'bad', what);
  equal(whole, await verifyReceipt(key, receipt));
  client.close();
}

/** Documents are read again after lost answers and errors that pass. A refusal is an error. */
export async function documents() {
  const { fetch } = globalThis;
  const answers = [
    new TypeError('lost'), [502, 'a proxy'], [503, { error: { code: 1000, message: 'unavailable', temporary: true } }], [200, { packet: 'p/1' }],
    [200, { keys: ['k1', 'k2'] }], [409, { error: { code: 1008, message: 'conflict field=packet' } }],
  ];
  const asked = [];
  globalThis.fetch = async (address, { headers }) => {
    asked.push(`${new URL(address).pathname} ${headers.Authorization}`);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return new Response(JSON.stringify(answer[1]), { status: answer[0] });
  };
  const client = new Script(inRoom(0)).client();
  try {
    equal(await client.proof('p/1'), { packet: 'p/1' });
    equal(asked, Array(4).fill('/v1/packets/p%2F1/proof Bearer token'));
    equal(await client.receiptKeys(), ['k1', 'k2']);
    const error = await failure(client.proof('p'));
    equal([error.word, error.fields], ['conflict', { field: 'packet' }]);
  } finally {
    globalThis.fetch = fetch;
    client.close();
  }
}

/** The account of the highest version is kept, whatever comes last. */
export async function crossing() {
  const script = new Script({ ...inRoom(0), account_version: 4 });
  const client = script.client();
  const ear = new Ear(client);
  await ear.next('ready');
  equal(client.account.view(), { balance: 10, version: 4, nextCommitment: 'c1', currency: { code: 'CNY', exponent: 2 } });
  const is = (...account) => equal([client.account.balance, client.account.version, client.account.nextCommitment], account);
  const push = (balance, account_version, next_commitment) => ({
    push: { message: { data: { wallet: { balance, account_version, change: 1, kind: 'claim', next_commitment } } } },
  });
  const reply = (id, balance, account_version, next_commitment) => ({ id, rpc: { data: { balance, account_version, next_commitment, transfers: [] } } });

  // In one frame, the reply first: the push is newer.
  script.answer = (method, data, id) => {
    script.say(reply(id, 20, 5, 'c5'), push(30, 6, 'c6'));
  };
  await client.wallet();
  is(30, 6, 'c6');
  equal((await ear.next('wallet')).balance, 30);

  // The push first: the reply is older, though it comes later.
  script.answer = (method, data, id) => {
    script.say(push(50, 8, 'c8'), reply(id, 0, 0, 'c0'));
  };
  equal((await client.wallet()).balance, 0);
  is(50, 8, 'c8');
  await ear.next('wallet');

  // Pushes of two instances: the older one still tells its change, with the account as it is known.
  script.say(push(40, 7, 'c7'));
  equal(await ear.next('wallet'), { balance: 50, account_version: 8, change: 1, kind: 'claim', next_commitment: 'c8' });
  is(50, 8, 'c8');

  // A reply without a commitment: the one of a version in between is still news.
  script.answer = () => ({ data: { state: {}, balance: 60, account_version: 10 } });
  await client.cancelPacket('p');
  is(60, 10, 'c8');
  script.say(push(55, 9, 'c9'));
  await ear.next('wallet');
  is(60, 10, 'c9');

  // After a connect all counts anew.
  script.greeting = ({ id }) => ({ id, connect: { client: 'c', data: { ...inRoom(0), balance: 3, account_version: 2, next_commitment: 'b2' } } });
  script.hangUp(3001, 'drain');
  await ear.next('ready');
  is(3, 2, 'b2');
  script.say(push(2, 1, 'b1'));
  await ear.next('wallet');
  is(3, 2, 'b2');
  script.say(push(4, 3, 'b3'));
  await ear.next('wallet');
  is(4, 3, 'b3');
}
