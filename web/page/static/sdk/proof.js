// Checks a proof file: the seed, shares, participants and winners of a finished packet, as web/docs/protocol/proof.md describes it.

import { heldRanks, leafOf, offsetsOf, orderOf, rootOf } from './draw.js';
import { splitShares } from './split.js';
import { commitmentOf } from './verify.js';

/**
 * @typedef {object} Participant  user and nonce are missing if the user was erased
 * @property {string} [user]
 * @property {string} [nonce]
 * @property {boolean} [server_nonce]  the server drew the nonce
 * @property {string} leaf
 *
 * @typedef {Participant & {amount: number, rank: number}} Winner
 *
 * @typedef {object} Wave
 * @property {number} wave  from 1; 0 if the packet is no rain
 * @property {number} [offset_ms]
 * @property {string} root
 * @property {number} entries
 * @property {string[]} [leaves]
 * @property {Winner[]} winners
 * @property {Participant[]} [passed]  had max_wins shares
 *
 * @typedef {object} ProofFile
 * @property {string} packet
 * @property {string} seed
 * @property {string} commitment
 * @property {string} sender
 * @property {string} key
 * @property {'lucky'|'equal'} mode
 * @property {'calm'|'classic'|'wild'|''} [spread]
 * @property {number} total
 * @property {number} count
 * @property {'refund'|'share'|''} [rest]
 * @property {{waves: number, duration_ms: number, max_wins: number}} [rain]
 * @property {number[]} [held]
 * @property {number[]} [shares]
 * @property {Wave[]} [waves]
 *
 * @typedef {object} Finding
 * @property {'form'|'commitment'|'shares'|'held'|'offsets'|'root'|'winners'|'unnamed'} what
 * @property {number} wave  of root, winners and unnamed
 * @property {boolean} holds
 * @property {string} text  the fault; of unnamed: how many participants were erased
 */

const maxShares = 1_000_000;

/** A fault of the document. */
class Fault extends Error {}

/**
 * verifyProof recomputes all that follows from the seed and the leaves, and compares it with the document.
 * @param {ProofFile} document
 * @returns {Finding[]}
 */
export function verifyProof(document) {
  return new Checker(document).run();
}

/**
 * receiptInProof says whether the receipt's leaf is among those of its wave: 'in', 'out' if the server left it out, 'other' if the
 * receipt is of another packet or wave. It does not check the signature: verifyReceipt does.
 * @param {ProofFile} document
 * @param {import('./draw.js').Receipt} receipt
 * @returns {'in'|'out'|'other'}
 */
export function receiptInProof(document, receipt) {
  const wave = document.waves?.find((w) => w.wave === (receipt.wave ?? 0));
  if (!wave || document.packet !== receipt.packet) return 'other';
  const leaf = String(receipt.leaf).toLowerCase();
  return wave.leaves?.some((other) => other.toLowerCase() === leaf) ? 'in' : 'out';
}

class Checker {
  /** @type {Finding[]} */ #findings = [];
  /** @type {Map<string, number>} */ #wins = new Map(); // shares of each user in the waves so far
  /** @type {Set<number>} */ #taken = new Set(); // ranks given in the waves so far
  /** @type {ProofFile} */ #d;

  /** @param {ProofFile} d */
  constructor(d) {
    this.#d = d;
  }

  run() {
    this.#add('form', 0, () => this.#form());
    if (!this.#findings[0].holds) return this.#findings;
    this.#findings = [];
    const d = this.#d;
    /** @type {number[]} */
    let shares = [];
    this.#add('commitment', 0, () => need(commitmentOf(d.seed) === d.commitment.toLowerCase(), 'it is not the SHA-256 of the seed'));
    this.#add('shares', 0, () => {
      shares = this.#cut();
      need(!d.shares || same(d.shares, shares), 'they do not follow from the seed');
    });
    if (d.held?.length) this.#add('held', 0, () => this.#held());
    if (d.rain) this.#add('offsets', 0, () => this.#offsets());
    for (const wave of d.waves ?? []) this.#wave(wave, shares);
    return this.#findings;
  }

  /**
   * add does a check, which throws a fault or returns a remark.
   * @param {Finding['what']} what
   * @param {number} wave
   * @param {() => void} check
   */
  #add(what, wave, check) {
    try {
      check();
      this.#findings.push({ what, wave, holds: true, text: '' });
    } catch (error) {
      if (!(error instanceof Fault || error instanceof RangeError || error instanceof TypeError)) throw error;
      this.#findings.push({ what, wave, holds: false, text: error.message });
    }
  }

  #form() {
    const { packet, seed, commitment, sender, key, count, rest = '', rain, held = [], waves = [] } = this.#d;
    need(/^[0-9a-f]{64}$/i.test(seed), 'the seed must have 64 hex digits');
    need([packet, sender, key, commitment].every((text) => typeof text === 'string' && text !== ''), 'packet, sender, key and commitment are needed');
    need(Number.isInteger(count) && count >= 1 && count <= maxShares, `count must be 1 to ${maxShares}`);
    need(['', 'refund', 'share'].includes(rest), 'rest must be refund or share');
    need(rest !== 'share' || (waves.length > 0 && !rain), 'only a draw with one wave can share its rest');
    need(held.length === 0 || waves.length === 0, 'a draw has no held ranks');
    if (!rain) {
      need(waves.length === 0 || (waves.length === 1 && waves[0].wave === 0), 'only a rain has several waves or a wave with a number');
      return;
    }
    need(rain.waves >= 1 && rain.waves * count <= maxShares && rain.waves === waves.length, 'the number of waves is wrong');
    need(rain.duration_ms >= 1 && rain.duration_ms < 2 ** 32, 'duration_ms is out of range');
    waves.forEach((w, i) => need(w.wave === i + 1, `wave ${i + 1} has the number ${w.wave}`));
  }

  /** cut returns the shares by rank. */
  #cut() {
    const { seed, sender, key, mode, spread = '', total, count, rest, rain, waves = [] } = this.#d;
    const parts = rest === 'share' ? Math.min(count, waves[0].entries) : count * (rain?.waves ?? 1);
    if (parts < 1) return []; // without participants nothing is cut
    return splitShares(seed, { from: { id: sender, name: '' }, key, mode, spread, total, count: parts });
  }

  #held() {
    const { seed, sender, key, count, held = [] } = this.#d;
    need(same(held, heldRanks(seed, sender, key, count, held.length)), 'the held ranks do not follow from the seed');
  }

  #offsets() {
    const { seed, sender, key, rain, waves = [] } = this.#d;
    offsetsOf(seed, sender, key, waves.length, rain?.duration_ms ?? 0).forEach((offset, i) => {
      const came = waves[i].offset_ms ?? 0;
      need(came === offset, `wave ${i + 1} came after ${came} ms, but the seed says ${offset} ms`);
    });
  }

  /**
   * @param {Wave} w
   * @param {number[]} shares
   */
  #wave(w, shares) {
    const { seed, packet } = this.#d;
    /** @type {string[]|undefined} */
    let order;
    this.#add('root', w.wave, () => {
      const leaves = (w.leaves ?? []).map((leaf) => leaf.toLowerCase());
      need(/^[0-9a-f]{64}$/i.test(w.root), 'the root must have 64 hex digits');
      need(w.entries === leaves.length, `there are ${leaves.length} leaves of ${w.entries} participants`);
      leaves.forEach((leaf, i) => {
        need(/^[0-9a-f]{64}$/.test(leaf), `leaf ${i} must have 64 hex digits`);
        need(i === 0 || leaves[i - 1] < leaf, `leaf ${i} is not greater than the one before`);
      });
      order = orderOf(seed, packet, w.wave, w.root, leaves);
      need(rootOf(leaves) === w.root.toLowerCase(), 'it is not the root of the leaves: one was added, left out or changed');
    });
    if (!order) return; // the winners cannot be compared with anything
    const drawn = order;
    let unnamed = 0;
    this.#add('winners', w.wave, () => {
      unnamed = this.#winners(w, drawn, shares);
    });
    if (unnamed > 0) this.#findings.push({ what: 'unnamed', wave: w.wave, holds: true, text: String(unnamed) });
  }

  /**
   * winners compares the winners with the order of the draw. It returns how many of the participants were erased.
   * @param {Wave} w
   * @param {string[]} order
   * @param {number[]} shares
   */
  #winners(w, order, shares) {
    const limit = this.#d.rain?.max_wins ?? 0;
    need(this.#d.rain || !w.passed?.length, 'only a rain passes participants over');
    const ranks = this.#ranks(w.wave);
    const winners = [...(w.winners ?? [])];
    const passed = [...(w.passed ?? [])];
    /** @type {Set<string>} */
    const users = new Set();
    let unnamed = 0;
    for (const leaf of order) {
      if (ranks.length === 0) break;
      const over = passed[0]?.leaf.toLowerCase() === leaf;
      need(over || winners[0]?.leaf.toLowerCase() === leaf, `the leaf ${leaf} comes before share ${ranks[0]} is given, and did not get it`);
      const winner = over ? undefined : winners.shift();
      const who = winner ?? /** @type {Participant} */ (passed.shift());
      this.#named(w, who, leaf, users);
      const has = this.#wins.get(who.user ?? '') ?? 0;
      if (who.user) need((limit > 0 && has >= limit) === over, `user ${who.user} has ${has} shares of at most ${limit}`);
      else unnamed++;
      if (!winner) continue;
      const rank = /** @type {number} */ (ranks.shift());
      need(winner.rank === rank && winner.amount === shares[rank - 1], `the winner of share ${rank} has another amount or rank`);
      this.#wins.set(who.user ?? '', has + 1);
      this.#taken.add(rank);
    }
    need(winners.length + passed.length === 0, 'there are winners that are not among the first of the order');
    return unnamed;
  }

  /**
   * ranks returns the ranks that a wave gives: its own, then those that earlier waves left, beginning with the latest one.
   * @param {number} wave
   */
  #ranks(wave) {
    const { count } = this.#d;
    const ranks = [];
    for (let w = Math.max(1, wave); w >= 1; w--) {
      for (let rank = (w - 1) * count + 1; rank <= w * count; rank++) if (!this.#taken.has(rank)) ranks.push(rank);
    }
    return ranks;
  }

  /**
   * named throws unless the leaf is that of the participant, and the participant's only one in the wave.
   * @param {Wave} w
   * @param {Participant} who
   * @param {string} leaf
   * @param {Set<string>} users
   */
  #named(w, who, leaf, users) {
    if (!who.user) return;
    need(who.nonce?.length === 32 && leafOf(this.#d.packet, w.wave, who.user, who.nonce) === leaf, `the leaf of ${who.user} is not that of the user and nonce`);
    need(!users.has(who.user), `user ${who.user} takes part twice`);
    users.add(who.user);
  }
}

/**
 * @param {unknown} holds
 * @param {string} fault
 */
function need(holds, fault) {
  if (!holds) throw new Fault(fault);
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function same(a, b) {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}
