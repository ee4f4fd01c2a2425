// Checks a proof file: the seed, shares, participants and winners of a finished packet, as web/docs/protocol/proof.md describes it.

import { leafOf, opensOf, orderOf, rootOf, waveCell } from './draw.js';
import { splitShares } from './split.js';
import { commitmentOf } from './verify.js';

/**
 * @typedef {object} Participant  user is missing if the user was erased
 * @property {string} [user]
 * @property {string} leaf
 *
 * @typedef {Participant & {amount: number, rank: number}} Winner
 *
 * @typedef {object} Wave
 * @property {number} wave  of a rain, from 1; 0: the only one of a draw
 * @property {number} [opens]  of a rain: when users could begin to enter it, in Unix milliseconds
 * @property {string} root
 * @property {number} entries
 * @property {string[]} [leaves]
 * @property {Winner[]} winners
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
 * @property {number[]} [shares]
 * @property {import('./draw.js').Rain & {max_wins: number, begin: number}} [rain]  the shares are drawn in several waves
 * @property {Wave[]} [waves]  of a draw: one
 *
 * @typedef {object} Finding
 * @property {'form'|'commitment'|'shares'|'instant'|'root'|'winners'|'unnamed'|'ended'} what
 * @property {boolean} holds
 * @property {string} text  the fault; of unnamed: how many participants were erased; of ended: after how many waves the rain has
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
 * receiptInProof says whether the receipt's leaf is among those of its wave: 'in', 'out' if the server left it out, 'wrong' if the leaf is
 * not that of its packet, wave and user, 'other' if the receipt is of another packet or wave. It does not check the signature:
 * verifyReceipt does.
 * @param {ProofFile} document
 * @param {import('./draw.js').Receipt} receipt
 * @returns {'in'|'out'|'wrong'|'other'}
 */
export function receiptInProof(document, receipt) {
  const wave = document.waves?.find((w) => w.wave === (receipt.wave ?? 0));
  if (!wave || document.packet !== receipt.packet) return 'other';
  const leaf = String(receipt.leaf).toLowerCase();
  if (typeof receipt.user !== 'string' || leafOf(document.sender, document.key, wave.wave, receipt.user) !== leaf) return 'wrong';
  return wave.leaves?.some((other) => other.toLowerCase() === leaf) ? 'in' : 'out';
}

class Checker {
  /** @type {Finding[]} */ #findings = [];
  /** @type {ProofFile} */ #d;
  #won = 0; // shares of earlier waves
  /** @type {Map<string, number>} */ #wins = new Map(); // of a rain: how often each user has won

  /** @param {ProofFile} d */
  constructor(d) {
    this.#d = d;
  }

  run() {
    this.#add('form', () => this.#form());
    if (!this.#findings[0].holds) return this.#findings;
    this.#findings = [];
    const d = this.#d;
    /** @type {number[]} */
    let shares = [];
    this.#add('commitment', () => need(commitmentOf(d.seed) === d.commitment.toLowerCase(), 'it is not the SHA-256 of the seed'));
    this.#add('shares', () => {
      shares = this.#cut();
      need(!d.shares || same(d.shares, shares), 'they do not follow from the seed');
    });
    for (const wave of d.waves ?? []) {
      if (!this.#wave(wave, shares)) return this.#findings; // the next ones follow from it
    }
    const waves = d.waves?.length ?? 0;
    if (d.rain && waves < d.rain.waves) this.#findings.push({ what: 'ended', holds: true, text: String(waves) });
    return this.#findings;
  }

  /**
   * add does a check, which throws a fault.
   * @param {Finding['what']} what
   * @param {() => void} check
   */
  #add(what, check) {
    try {
      check();
      this.#findings.push({ what, holds: true, text: '' });
    } catch (error) {
      if (!(error instanceof Fault || error instanceof RangeError || error instanceof TypeError)) throw error;
      this.#findings.push({ what, holds: false, text: error.message });
    }
  }

  #form() {
    const { packet, seed, commitment, sender, key, count, rest = '', waves = [] } = this.#d;
    need(/^[0-9a-f]{64}$/i.test(seed), 'the seed must have 64 hex digits');
    need([packet, sender, key, commitment].every((text) => typeof text === 'string' && text !== ''), 'packet, sender, key and commitment are needed');
    need(Number.isInteger(count) && count >= 1 && count <= maxShares, `count must be 1 to ${maxShares}`);
    need(['', 'refund', 'share'].includes(rest), 'rest must be refund or share');
    need(rest !== 'share' || waves.length > 0, 'only a draw can share its rest');
    if (this.#d.rain) this.#rainForm();
    else need(waves.length === 0 || (waves.length === 1 && waves[0].wave === 0), 'a packet has at most one draw, with the wave 0');
  }

  #rainForm() {
    const { count, rest = '', waves = [], rain } = this.#d;
    if (!rain) return;
    need(Number.isInteger(rain.waves) && rain.waves >= 1 && rain.waves <= maxShares && count % rain.waves === 0, 'the count of a rain must be a multiple of its waves');
    need(Number.isInteger(rain.over_s) && rain.over_s <= maxShares && rain.over_s * 1000 >= rain.waves * waveCell, `each wave needs ${waveCell} ms of over_s`);
    need(rain.max_wins >= 1, 'max_wins must be at least 1');
    need(rest !== 'share', 'only a draw can share its rest');
    need(waves.length <= rain.waves && waves.every((w, i) => w.wave === i + 1), 'the waves are not numbered from 1');
  }

  /** cut returns the shares by rank. */
  #cut() {
    const { seed, sender, key, mode, spread = '', total, count, rest, waves = [] } = this.#d;
    const parts = rest === 'share' ? Math.min(count, waves[0].entries) : count;
    if (parts < 1) return []; // without participants nothing is cut
    return splitShares(seed, { from: { id: sender, name: '' }, key, mode, spread, total, count: parts });
  }

  /**
   * wave checks a wave. It returns false if the winners could not be checked, or are wrong.
   * @param {Wave} w
   * @param {number[]} shares
   */
  #wave(w, shares) {
    const { seed, sender, key, rain } = this.#d;
    if (rain) {
      this.#add('instant', () => {
        const opens = rain.begin + opensOf(seed, sender, key, rain)[w.wave - 1];
        need(w.opens === opens, `wave ${w.wave} has opened at ${w.opens}, and the seed says ${opens}`);
      });
    }
    /** @type {string[]|undefined} */
    let order;
    this.#add('root', () => {
      const leaves = (w.leaves ?? []).map((leaf) => leaf.toLowerCase());
      need(/^[0-9a-f]{64}$/i.test(w.root), 'the root must have 64 hex digits');
      need(w.entries === leaves.length, `there are ${leaves.length} leaves of ${w.entries} participants`);
      leaves.forEach((leaf, i) => {
        need(/^[0-9a-f]{64}$/.test(leaf), `leaf ${i} must have 64 hex digits`);
        need(i === 0 || leaves[i - 1] < leaf, `leaf ${i} is not greater than the one before`);
      });
      order = orderOf(seed, sender, key, w.wave, leaves);
      need(rootOf(leaves) === w.root.toLowerCase(), 'it is not the root of the leaves: one was added, left out or changed');
    });
    if (!order) return false; // the winners cannot be compared with anything
    const drawn = order;
    let unnamed = 0;
    this.#add('winners', () => {
      unnamed = this.#winners(w, drawn, shares);
    });
    const holds = this.#findings[this.#findings.length - 1].holds;
    if (unnamed > 0 && holds) this.#findings.push({ what: 'unnamed', holds: true, text: String(unnamed) });
    return holds;
  }

  /**
   * winners compares the winners with the order of the draw. It returns how many of them were erased.
   * @param {Wave} w
   * @param {string[]} order
   * @param {number[]} shares
   */
  #winners(w, order, shares) {
    const { sender, key, count, rain } = this.#d;
    const winners = w.winners ?? [];
    const passed = new Set([...this.#wins].filter(([, n]) => rain && n >= rain.max_wins).map(([user]) => leafOf(sender, key, w.wave, user)));
    const first = this.#won;
    const drawn = order.filter((leaf) => !passed.has(leaf)).slice(0, rain ? (count / rain.waves) * w.wave - first : count);
    let unnamed = 0;
    drawn.forEach((leaf, place) => {
      const winner = winners[place];
      const rank = first + place + 1;
      need(winner?.leaf.toLowerCase() === leaf, `share ${rank} goes to the leaf ${leaf}, which did not get it`);
      need(winner.rank === rank && winner.amount === shares[rank - 1], `the winner of share ${rank} has another amount or rank`);
      if (winner.user) need(leafOf(sender, key, w.wave, winner.user) === leaf, `the leaf of ${winner.user} is not that of the user`);
      else unnamed++;
    });
    this.#won += drawn.length;
    for (const { user } of winners) if (user) this.#wins.set(user, (this.#wins.get(user) ?? 0) + 1);
    need(winners.length <= drawn.length, 'there are winners that are not among the first of the order');
    return unnamed;
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
