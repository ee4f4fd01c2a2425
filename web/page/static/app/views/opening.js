// Opening an envelope: the user taps the coin, it turns until the answer arrives, the flap lifts. The result is read
// from the packet's view, so that a pushed answer is shown, too. The card that comes out of the envelope also says which user got what.
import { h, Component, createRef } from '../dom.js';
import { change, state } from '../state.js';
import { t } from '../words.js';
import { money } from '../format.js';
import { isBad } from '../model/link.js';
import { endDraw } from '../actions/draws.js';
import { hasEntered, isDraw, shownBalance } from '../model/draws.js';
import { openPacket, showDetails } from '../actions/packets.js';
import { calm } from '../motion.js';
import { sound } from '../sound.js';
import { setSound } from '../sound-choice.js';
import { Avatar, IconButton } from './parts.js';
import { chance } from './draw-words.js';
import { skinned } from '../model/skins.js';
import { Coin } from './coin.js';
import { Seal } from './envelope.js';
import { isEarly } from '../model/early.js';
import { audience } from './envelope-words.js';
import { OpensIn } from './opens-in.js';
import { Icon } from './icon.js';
import { isOver } from './draw-ring.js';
import { OpeningCard } from './opening-card.js';
import { DrawFoot, DrawRing, drawCoin, drawLabel } from './opening-draw.js';
import { Refusal } from './opening-refusal.js';
import { luckOf, outcome, refused } from './opening-words.js';
import { coinRests, comesOut, roll, scatter, sinks, Turning } from './opening-motion.js';

export class Opening extends Component {
  state = { open: false, missing: false, isAmountShown: false }; // isAmountShown: the amount is in its place
  /** @type {{current: any}} */ form = createRef();
  /** @type {{current: any}} */ packet = createRef();
  /** @type {{current: any}} */ coin = createRef();
  /** @type {{current: any}} */ phrase = createRef();
  /** @type {{current: any}} */ amount = createRef();
  /** @type {{current: any}} */ card = createRef();
  /** @type {{current: any}} */ scroll = createRef();
  turning = new Turning();
  seen = 'no';
  tapped = false; // and not answered
  crowned = false;
  sunk = 0; // pixels
  gone = false; // it is unmounted
  sizes = new ResizeObserver(() => this.place());

  componentDidMount() {
    this.props.view.stage = 'envelope'; // it stays, even if the packet changes meanwhile
    this.seen = this.props.view.grab;
    if (isDraw(this.props.view.packet)) this.props.view.veiled = true; // the envelope tells the end first
    (this.phrase.current ?? this.coin.current).focus({ preventScroll: true });
  }

  componentWillUnmount() {
    const { view } = this.props;
    this.gone = true;
    if (view.stage === 'envelope') view.stage = null;
    this.sizes.disconnect();
    this.unveil();
    this.unseal();
  }

  unveil() { if (this.props.view.veiled) change(() => { this.props.view.veiled = false; }); }

  /** Until then, no other part of the page tells the answer. */
  unseal() { if (state.sealed) change(() => { state.sealed = null; }); }

  componentDidUpdate() {
    const { view } = this.props;
    const answered = this.tapped && view.grab === 'no'; // perhaps before the page was drawn with 'asking'
    if (this.state.isAmountShown) this.crown();
    if (isDraw(view.packet)) {
      endDraw(view);
      if (view.state.status !== 'open' && !this.state.open && !this.ends) this.end();
    }
    if ((view.grab === this.seen && !answered) || this.state.open) return;
    if (answered) this.tapped = false;
    this.seen = view.grab;
    if (view.grab === 'asking') this.turning.start(this.coin.current);
    else if (view.answer && !isDraw(view.packet)) this.reveal();
    else if (view.answer) this.entered();
    else this.refused();
  }

  /** The user takes part, or has come too late: the coin says so. The end is an entry of the room. */
  async entered() {
    await this.turning.rest();
    const { view } = this.props;
    if (this.gone || !hasEntered(view)) return;
    change(() => { state.announcement = `${t('draw.in')}. ${chance(view)}`; });
    if (document.activeElement === document.body) this.coin.current?.focus({ preventScroll: true }); // the passphrase is not asked any more
  }

  /** The end of a draw opens all envelopes at once. */
  end() {
    this.ends = true;
    this.reveal();
  }

  async refused() {
    this.unseal();
    await this.turning.rest();
    if (this.gone) return;
    const { refusal } = this.props.view;
    if (refusal?.word === 'rate_limited') {
      change(() => { state.announcement = refused(this.props.view, Math.ceil(refusal.fields.retry_after_ms / 1000)); });
    }
    if (refusal?.word !== 'wrong_passphrase') return;
    this.phrase.current?.focus();
    this.phrase.current?.select();
  }

  /** Whether it was closed, or another view of the packet is open. */
  isClosed() { return this.gone || this.props.view.stage !== 'envelope'; }

  async reveal() {
    await this.turning.rest(false);
    if (this.isClosed()) return;
    await coinRests(this.coin.current);
    if (this.isClosed()) return;
    this.setState({ open: true }, () => this.tell());
  }

  /** The card comes out, and the digits roll. Until they rest, nothing else tells the amount: not the page behind, and not to screen readers. */
  async tell() {
    const { view } = this.props;
    const { mine } = view.state;
    const { luck } = luckOf(view);
    this.place();
    this.sizes.observe(this.card.current);
    this.sizes.observe(this.form.current);
    this.scroll.current.focus({ preventScroll: true });
    await (mine ? roll(this.amount.current, money(mine.amount), luck) : comesOut(this.card.current));
    if (this.isClosed()) return;
    this.unseal();
    this.unveil();
    this.setState({ isAmountShown: true });
    if (mine) scatter(this.packet.current, luck);
    if (!luckOf(view).luckiest) sound(mine ? 'won' : 'late');
    const words = outcome(view);
    change(() => { state.announcement = [words.title, mine && money(mine.amount), words.more].filter(Boolean).join(' '); });
  }

  /** The crown falls once: it is known now, or when the last share is taken, that the user's is the luckiest. */
  crown() {
    if (this.crowned || !luckOf(this.props.view).luckiest) return;
    this.crowned = true;
    sound('crown');
  }

  /** Sinks the envelope so far that the card stands at its place with its foot in the slot. */
  place() {
    const [form, packet, card] = [this.form.current, this.packet.current, this.card.current];
    const sink = Math.round(cardTop * form.clientHeight + card.offsetHeight - slot - packet.offsetTop);
    if (this.state.isAmountShown) sinks(packet, card, sink, sink - this.sunk);
    this.sunk = sink;
    form.style.setProperty('--sink', `${sink}px`);
  }

  tap = (e) => {
    e.preventDefault();
    const { view } = this.props;
    if (view.grab !== 'no' || this.state.open) return;
    const draws = isDraw(view.packet);
    if (isEarly(view.packet)) return;
    if (draws && (hasEntered(view) || isOver(view.packet))) return;
    const phrase = this.phrase.current?.value.trim();
    const missing = view.packet.locked && !phrase;
    this.setState({ missing });
    if (missing) {
      this.phrase.current.focus();
      return;
    }
    sound('tap');
    this.tapped = true;
    if (!draws) change(() => { state.sealed = { packet: view.packet.id, balance: shownBalance() }; });
    openPacket(view.packet.id, phrase);
  };

  render({ view }, { open, missing, isAmountShown }) {
    const { packet } = view;
    const early = isEarly(packet) && view.state.status === 'open';
    const draws = isDraw(packet) && !early; // until then it looks like any other
    const waits = view.grab !== 'no' || (view.answer !== null && !draws); // the answer is shown when the coin rests
    const rests = early || draws && (hasEntered(view) || isOver(packet)); // nothing can be tapped any more
    return h('form', { ...skinned(packet.skin, 'opening'), ref: this.form, 'data-open': open ? 'yes' : 'no', 'data-amount-shown': isAmountShown ? 'yes' : 'no', onSubmit: this.tap },
      h('div', { class: 'opening-packet', ref: this.packet },
        h('div', { class: 'opening-back' }),
        h('div', { class: 'opening-slot' }, h('div', { class: 'opening-card', ref: this.card, inert: !open }, open && h(OpeningCard, { view, amount: this.amount, scroll: this.scroll, told: isAmountShown }))),
        h(Paper, { part: 'front', path: 'M0 226Q150 314 300 226V402a18 18 0 0 1-18 18H18a18 18 0 0 1-18-18Z' }),
        h('div', { class: 'opening-skin' }),
        h('div', { class: 'opening-flap', inert: open },
          h(Paper, { part: 'inside', path: 'M0 0H300V236Q150 330 0 236Z' }),
          h('div', { class: 'opening-outside' },
            h(Paper, { part: 'outside', path: flapPath }),
            h(Address, { packet, locked: packet.locked && !rests, phrase: this.phrase, missing, onInput: () => this.setState({ missing: false }) }))),
        !open && h(IconButton, {
          class: 'button quiet icon opening-sound', icon: state.sound ? 'sound' : 'muted', size: 20, label: t('settings.sound'), 'aria-pressed': state.sound,
          onClick: () => { setSound(!state.sound); sound('tap'); },
        }),
        draws && !open && h(DrawRing, { packet }),
        h('button', {
          class: 'opening-coin', ref: this.coin, type: 'submit', inert: open, autofocus: !packet.locked, 'aria-label': early ? t('packet.early') : draws ? drawLabel(view) : t('packet.open'),
          'aria-busy': view.grab !== 'no', 'aria-disabled': rests,
        },
        h('span', { class: 'coin-face' }, h(Coin, { mark: !draws && !onCoin(view) }), h('b', null, draws ? drawCoin(view) : onCoin(view))),
        h('span', { class: 'coin-back' }, h(Seal, null)))),
      h('div', { class: 'opening-foot' },
        draws && !open && h(DrawFoot, { view }),
        early && h('p', { class: 'number' }, h(OpensIn, { packet })),
        h('p', { class: 'small', 'aria-hidden': 'true', hidden: early || draws || waits || open || missing || view.refusal !== null }, t('packet.tap')),
        view.grab !== 'no' && isBad(state.notice) && h('p', { class: 'opening-refusal', role: 'status' }, t('link.connecting')),
        missing ? h('p', { class: 'opening-refusal', role: 'alert' }, t('packet.phraseMissing')) : h(Refusal, { view }),
        h('button', { class: 'button quiet', type: 'button', hidden: waits || open, onClick: () => showDetails(view) }, t(draws ? 'draw.look' : 'packet.unopened'))));
  }
}

const cardTop = 0.11; // of the height of the view; opening.css has it, too
const slot = 300; // pixels from the top of the envelope to the foot of the card

/** The text on the coin, instead of its mark; with reduced motion it must say that the user waits. */
function onCoin({ grab }) { return grab === 'asking' && calm() ? '…' : ''; }

const flapPath = 'M18 0H282a18 18 0 0 1 18 18V236Q150 330 0 236V18a18 18 0 0 1 18-18Z';

function Paper({ part, path }) {
  return h('svg', { class: `paper ${part}`, viewBox: '0 0 300 420', 'aria-hidden': 'true', focusable: 'false' }, h('path', { d: path }));
}

/** The text on the flap: sender, greeting, and the passphrase field. */
function Address({ packet, locked, phrase, missing, onInput }) {
  const whom = audience(packet);
  return h('div', { class: 'opening-address' },
    h(Avatar, { user: packet.from, size: 'large' }),
    h('h3', null, t('packet.from', { name: packet.from.name })),
    h('p', { class: 'opening-greeting', dir: 'auto' }, packet.greeting),
    whom && h('p', { class: 'envelope-whom small' }, whom),
    locked && h('label', { class: 'opening-phrase' },
      h(Icon, { name: 'lock', size: 18 }),
      h('span', { class: 'only-read' }, t('packet.passphrase')),
      h('input', {
        ref: phrase, autofocus: true, placeholder: t('packet.passphrase'), autocomplete: 'off', autocapitalize: 'off', spellcheck: false,
        'aria-required': 'true', 'aria-invalid': missing, onInput,
      })));
}
