// "Check the draw": this browser recomputes the participants' root, the winners and their amounts from the proof, and looks for the user's own receipt in it.
import { h, Component, Fragment, createRef } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { number } from '../format.js';
import { readProof } from '../actions/draws.js';
import { saveFile } from '../actions/save.js';
import { verifyReceipt } from '../../sdk/draw.js';
import { receiptInProof, verifyProof } from '../../sdk/proof.js';
import { isRain, receiptsOf } from '../model/rain.js';
import { Icon } from './icon.js';

/**
 * @typedef {object} Line
 * @property {string} word   in draw.check
 * @property {'good'|'problem'|'unknown'} is
 */

const shown = ['commitment', 'instant', 'root', 'shares', 'winners']; // of the findings, in this order; only a rain has instants

export class DrawCheck extends Component {
  state = { busy: false, /** @type {any} */ error: null, /** @type {{lines: Line[], document: any}|null} */ verdict: null };
  /** @type {{current: any}} */ root = createRef();

  check = async () => {
    const { view } = this.props;
    if (this.state.busy) return;
    this.setState({ busy: true, error: null });
    try {
      const { document, keys } = await readProof(view.packet.id);
      const lines = [...proofLines(document, view), ...await receiptLines(document, receiptsOf(view), keys)];
      this.setState({ busy: false, verdict: { document, lines } }, () => this.root.current?.focus({ preventScroll: true }));
    } catch (error) {
      this.setState({ busy: false, error });
    }
  };

  render({ view }, { busy, error, verdict }) {
    const { packet, state: { draw } } = view;
    const n = draw?.participants ?? 0;
    return h('section', { class: 'verify stack', ref: this.root, tabIndex: -1, 'aria-label': t('packet.verify.title'), 'aria-live': 'polite' },
      verdict ? h(Verdict, { lines: verdict.lines, n, name: packet.from.name }) : h(Fragment, null,
        h('p', { class: 'muted small' }, t('draw.check.offer')),
        error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
        h('button', { class: 'button', type: 'button', 'aria-busy': busy, onClick: this.check }, h(Icon, { name: 'check' }), t('draw.check.button'))),
      (verdict || draw?.receipt) && h('div', { class: 'row draw-files' },
        verdict && h('button', { class: 'button', type: 'button', onClick: () => saveFile(`draw-${packet.id}.json`, verdict.document) },
          h(Icon, { name: 'download', size: 18 }), t('draw.saveProof')),
        h(SaveReceipt, { view })));
  }
}

/** The user's own receipt, as a file; of a rain a file for each wave. */
export function SaveReceipt({ view }) {
  const all = receiptsOf(view);
  const save = () => all.forEach((r) => saveFile(`receipt-${[view.packet.id, r.wave].filter(Boolean).join('-')}.json`, r));
  return all.length > 0 && h('button', { class: 'button', type: 'button', onClick: save },
    h(Icon, { name: 'download', size: 18 }), t('draw.saveReceipt'));
}

function Verdict({ lines, n, name }) {
  const bad = lines.some((line) => line.is === 'problem');
  return h(Fragment, null,
    h('h4', { class: bad ? 'problem' : '' }, t(bad ? 'draw.check.bad' : 'draw.check.good')),
    h('ul', { class: 'verdict' }, lines.map(({ word, is }) => h('li', { key: word, class: is },
      h(Icon, { name: is === 'good' ? 'check' : 'warn', size: 20 }), t(`draw.check.${word}`, { count: n, shown: number(n) })))),
    h('p', { class: 'muted small' }, t(bad ? 'draw.check.tell' : 'draw.check.proves', { name })));
}

/** @param {any} document @param {import('../state.js').PacketView} view @returns {Line[]} */
function proofLines(document, view) {
  if (!isOf(document, view)) return [{ word: 'otherNot', is: 'problem' }];
  const findings = verifyProof(document);
  if (findings[0]?.what === 'form') return [{ word: 'formNot', is: 'problem' }];
  const rains = isRain(view.packet);
  return shown.filter((what) => rains || what !== 'instant').map((what) => {
    const found = findings.filter((f) => f.what === what); // a rain has some of each wave
    const holds = found.length > 0 && found.every((f) => f.holds) && (what !== 'winners' || claimsFit(document, view));
    const word = rains && what === 'root' ? 'rain' : what;
    return { word: holds ? word : `${what}Not`, is: holds ? 'good' : 'problem' };
  });
}

/** The proof is of the packet as this page knows it, and of the end as it was told. @param {any} d @param {import('../state.js').PacketView} view */
function isOf(d, { packet: p, state: { draw } }) {
  const waves = d?.waves ?? [];
  const entries = waves.reduce((sum, wave) => sum + wave.entries, 0);
  return (p.waves ? isPlanned(d.rain, p) : waves.length === 1 && !d.rain && waves[0].root === draw?.root) && entries === draw?.participants && d.packet === p.id && d.commitment === p.commitment && d.sender === p.from.id && d.key === p.key && d.mode === p.mode
    && (d.spread ?? '') === p.spread && d.total === p.total && d.count === p.count && (d.rest !== 'share' || p.rest === 'share');
}

/** The rules of the rain are those that the room was told. @param {any} rain @param {import('../../sdk/types.js').Packet} p */
function isPlanned(rain, { waves = 0, over_s: over = 0, max_wins: most, expires_at: ends = 0 }) {
  return rain?.waves === waves && rain.over_s === over && rain.max_wins === most && rain.begin === ends - over * 1000;
}

/** The shares that the page shows are those of the proof. @param {any} d @param {import('../state.js').PacketView} view */
function claimsFit({ waves }, { packet, claims, state: s }) {
  const winners = waves.flatMap((wave) => wave.winners);
  /** @type {any[]} */
  const known = [...claims?.all ?? [], ...packet.waves ? s.rain?.wins ?? [] : [s.mine], s.luckiest].filter((share) => share?.amount !== undefined);
  const users = (claims?.all ?? []).every(({ user, rank }) => [undefined, user.id].includes(winners[rank - 1]?.user));
  return users && winners.length === s.claimed && known.every(({ rank, amount }) => winners[rank - 1]?.amount === amount);
}

/**
 * @param {any} document
 * @param {import('../../sdk/types.js').Receipt[]} receipts
 * @param {string[]} keys  the server's
 * @returns {Promise<Line[]>}
 */
async function receiptLines(document, receipts, keys) {
  if (!receipts.length) return [];
  const inside = receipts.every((r) => r.user === state.me?.id && receiptInProof(document, r) === 'in');
  const signs = await Promise.all(receipts.map(async (r) => (keys.includes(r.key) ? verifyReceipt(r.key, r) : 'bad')));
  const signed = ['bad', 'unavailable'].find((is) => signs.includes(/** @type {any} */ (is))) ?? 'good';
  return [
    { word: inside ? 'mine' : 'mineNot', is: inside ? 'good' : 'problem' },
    signed === 'unavailable' ? { word: 'signedUnknown', is: 'unknown' } : { word: signed === 'good' ? 'signed' : 'signedNot', is: signed === 'good' ? 'good' : 'problem' },
  ];
}
