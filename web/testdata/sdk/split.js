// Cutting and verifying, by the vectors that the server's own tests read, and against the server's own code.

import { hmac, sha256 } from '/sdk/sha256.js';
import { newKey, splitShares, verifyPacket } from '/sdk/index.js';
import { equal, failure, ok } from './check.js';

const get = async (path) => (await fetch(path)).json();
const hex = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, '0')).join('');
const digestOf = async (shares) => hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(shares.join(' '))));
const packetOf = ({ from, key, mode, spread, total, count }) => ({ from: { id: from, name: '' }, key, mode, spread, total, count });

export async function vectors() {
  const all = await get('/split.json');
  ok(all.length >= 10, `${all.length} vectors`);
  for (const v of all) {
    const shares = splitShares(v.seed, packetOf(v));
    const what = `${v.mode} ${v.spread} ${v.total} in ${v.count}`;
    if (v.shares) equal(shares, v.shares, what);
    equal(await digestOf(shares), v.digest, what);
  }
}

/** Packets that nobody has thought of: the server cuts them too. */
export async function asTheServerDoes() {
  const made = await get('/cuts.json');
  ok(made.length >= 100, `${made.length} packets`);
  for (const v of made) equal(splitShares(v.seed, packetOf(v)), v.shares, JSON.stringify(packetOf(v)));
}

/** The largest packet is cut within 100 ms: about 40 of one's own processor. Here it may be shared with much else, so only what
 *  grows out of all proportion fails. */
export async function fast() {
  const seed = 'ab'.repeat(32);
  for (const [mode, spread] of [['lucky', 'classic'], ['lucky', 'calm'], ['lucky', 'wild'], ['equal', '']]) {
    let best = Infinity;
    for (let tries = 0; tries < 20 && best >= 100; tries++) {
      const begun = performance.now();
      splitShares(seed, packetOf({ from: 'u', key: 'k', mode, spread, total: 20_000_000, count: 10_000 }));
      best = Math.min(best, performance.now() - begun);
    }
    ok(best < 1000, `${mode} ${spread} takes ${best} ms`);
  }
}

export async function whatCannotBeCut() {
  const good = { from: 'u', key: 'k', mode: 'lucky', spread: 'classic', total: 10, count: 2 };
  const cut = async (seed, change) => splitShares(seed, packetOf({ ...good, ...change }));
  for (const bad of [{ count: 0 }, { count: 11 }, { count: 1.5 }, { total: 2 ** 60 }, { mode: 'equal' }, { spread: 'odd' }]) {
    ok(await failure(cut('ab'.repeat(32), bad)) instanceof RangeError, JSON.stringify(bad));
  }
  for (const seed of ['', 'xy'.repeat(32), 'ab'.repeat(31)]) ok(await failure(cut(seed)) instanceof RangeError, `seed ${seed}`);
}

/** Our own SHA-256 is the browser's, for messages that end anywhere in a block. */
export async function digests() {
  const message = Uint8Array.from({ length: 300 }, (_, i) => i * 7 + 3);
  for (let length = 0; length <= 300; length++) {
    const part = message.subarray(0, length);
    equal(hex(sha256(part)), hex(await crypto.subtle.digest('SHA-256', part)), `SHA-256 of ${length} bytes`);
    if (length === 0 || length > 64) continue;
    const key = await crypto.subtle.importKey('raw', part, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    equal(hex(hmac(part)(message)), hex(await crypto.subtle.sign('HMAC', key, message)), `HMAC with ${length} bytes`);
  }
}

/** The golden packet, as the reply of `packet` tells it, and what a forger might tell instead. */
export async function verdicts() {
  const reply = (await get('/golden.json'))['reply-packet'].rpc.data;
  const [vector] = await get('/split.json');
  const packet = { ...reply.packet, ...packetOf(vector), commitment: vector.commitment };
  const proof = { seed: vector.seed, commitment: vector.commitment, shares: vector.shares };
  const claims = [{ user: reply.packet.from, rank: 2, at: 1, amount: vector.shares[1] }, { user: reply.packet.from, rank: 3, at: 1 }];
  const [mine, luckiest] = [{ rank: 1, amount: vector.shares[0], at: 1 }, { user: 'u', rank: 2, amount: vector.shares[1] }];
  const state = { packet: 'p', status: 'drained', claimed: 5, mine, luckiest };
  const good = { packet, proof, claims, state };
  const verdict = { commitment: true, sum: true, shares: true, expected: vector.shares };
  equal(await verifyPacket(good), verdict);
  equal(await verifyPacket({ packet, proof }), verdict);

  const fails = async (change, want) => {
    const forged = structuredClone(good);
    change(forged);
    const { commitment, sum, shares } = await verifyPacket(forged);
    equal({ commitment, sum, shares }, { commitment: true, sum: true, shares: true, ...want }, String(change));
  };
  await fails((f) => { f.packet.key += 'x'; }, { shares: false });
  await fails((f) => { f.packet.from.id = 'u-2'; }, { shares: false });
  await fails((f) => { f.packet.spread = 'calm'; }, { shares: false });
  await fails((f) => { f.packet.spread = 'odd'; }, { shares: false });
  await fails((f) => { f.packet.total++; }, { sum: false, shares: false });
  await fails((f) => { f.packet.count = 2 ** 40; }, { sum: false, shares: false });
  await fails((f) => { f.packet.commitment = '00'.repeat(32); }, { commitment: false });
  await fails((f) => { f.proof.commitment = '00'.repeat(32); }, { commitment: false });
  await fails((f) => { f.proof.seed = '00'; }, { commitment: false, shares: false });
  await fails((f) => { f.proof.seed = 'zz'; }, { commitment: false, shares: false });
  await fails((f) => { f.proof.shares.reverse(); }, { shares: false });
  await fails((f) => { f.proof.shares.pop(); }, { sum: false, shares: false });
  await fails((f) => { f.claims[0].amount++; }, { shares: false });
  await fails((f) => { f.claims[0].rank = 9; }, { shares: false });
  await fails((f) => { f.state.mine.amount--; }, { shares: false });
  await fails((f) => { f.state.luckiest.rank = 1; }, { shares: false });
}

/** A page that is not secure has no crypto.subtle and no crypto.randomUUID, and needs neither. */
export async function insecurePages() {
  for (const name of ['subtle', 'randomUUID']) Object.defineProperty(crypto, name, { value: undefined, configurable: true });
  try {
    const [v] = await get('/split.json');
    const packet = { ...packetOf(v), commitment: v.commitment };
    equal(await verifyPacket({ packet, proof: v }), { commitment: true, sum: true, shares: true, expected: v.shares });
    const keys = new Set(Array.from({ length: 100 }, newKey));
    ok(keys.size === 100 && [...keys].every((key) => /^[!-~]{16,64}$/.test(key)), 'keys');
  } finally {
    for (const name of ['subtle', 'randomUUID']) delete crypto[name];
  }
}
