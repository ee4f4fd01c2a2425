// Which user got what: the claims of a packet. The list reads what it lacks while it is shown.
import { h, Component } from '../dom.js';
import { t } from '../words.js';
import { loadClaims } from '../actions/packets.js';
import { Failed, Loading } from './parts.js';
import { ClaimRow } from './packet-claims.js';

const pace = 1000; // ms between two reads while the packet is being opened

export class ClaimList extends Component {
  componentDidMount() { this.read(); }

  componentDidUpdate() { this.read(); }

  componentWillUnmount() { clearTimeout(this.timer); }

  /** Reads what is missing: new claims at the end of the list, amounts that are visible now, the proof. */
  read() {
    const { view } = this.props;
    const list = view.claims;
    if (this.timer || list?.loading || list?.error) return;
    if (list && !isBehind(view)) return;
    const later = this.last ? Math.max(0, this.last + pace - Date.now()) : 0;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.last = Date.now();
      loadClaims(view.packet.id, Boolean(view.claims && needsAnew(view)));
    }, later);
  }

  render({ view }) {
    const { packet, claims } = view;
    if (claims?.error) return h(Failed, { error: claims.error, again: () => loadClaims(packet.id) });
    return !claims || (claims.loading && !claims.all.length) ? h(Loading, null) : h(Claims, { view, claims });
  }
}

function Claims({ view, claims }) {
  const { packet, state: s } = view;
  if (!claims.all.length) return s.status === 'cancelled' ? null
    : h('p', { class: 'empty' }, t(s.status === 'open' ? 'packet.nobodyYet' : 'packet.nobody'));
  const largest = Math.max(...claims.all.map((c) => c.amount ?? 0), s.luckiest?.amount ?? 0);
  const hidden = claims.all.some((c) => c.amount === undefined);
  return h('section', { class: 'stack', 'aria-label': t('packet.list') },
    hidden && h('p', { class: 'muted small' }, t('packet.hidden')),
    h('ol', { class: 'claims' }, claims.all.map((claim) => h(ClaimRow,
      { key: claim.rank, claim, packet, largest, luckiest: s.luckiest?.rank === claim.rank }))),
    claims.more && h('button', { class: 'button wide', type: 'button', 'aria-busy': claims.loading, onClick: () => loadClaims(packet.id) },
      t('packet.more')));
}

function isBehind(view) {
  const { claims, state: s } = view;
  return (!claims.more && claims.all.length < s.claimed) || needsAnew(view);
}

/** Amounts or the proof were hidden when it was read, and are visible now. */
function needsAnew({ claims, state: s }) {
  const done = s.status !== 'open';
  return (done && !claims.proof) || ((done || s.mine) && claims.all.some((c) => c.amount === undefined));
}
