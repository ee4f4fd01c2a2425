// A rain over the room: a bar with a button while its waves come, and in each wave envelopes that fall and can be tapped. The button does the same as an
// envelope. With reduced motion nothing falls.
import { h, Component, Fragment, createRef } from '../dom.js';
import { change } from '../state.js';
import { t } from '../words.js';
import { money } from '../format.js';
import { askRain, grabWave } from '../actions/rain.js';
import { enteredWave, openWave, rainIn, rainOf, winsOf } from '../model/rain.js';
import { calm } from '../motion.js';
import { isOver, TimeLeft } from './draw-ring.js';
import { Icon } from './icon.js';
import { refused } from './opening-words.js';
import { present } from './rain-words.js';
import { skinned } from '../model/skins.js';

const resultPatience = 4000; // ms after the end of a wave or rain in which the push should have come

/** The rain of a room, if there is one. */
export function Rain({ view }) {
  const rain = rainIn(view.room.id);
  return rain ? h(Shower, { key: rain.packet.id, view: rain }) : null;
}

class Shower extends Component {
  button = createRef();
  wave = 0; // that was shown last

  componentDidMount() {
    const { view } = this.props;
    if (!view.state.rain && view.cameAt === -Infinity) askRain(view);
    this.watch();
  }

  componentDidUpdate() {
    const open = openWave(this.props.view);
    if (open > this.wave && document.activeElement === document.body) this.button.current?.focus({ preventScroll: true });
    if (open) this.wave = open;
    this.watch();
  }

  componentWillUnmount() { clearTimeout(this.timer); }

  /** Draws the page again when the wave has ended; asks if its result, or that of the rain, is not told. */
  watch() {
    const { view } = this.props;
    const { packet } = view;
    clearTimeout(this.timer);
    if (openWave(view)) {
      this.timer = setTimeout(change, view.waveUntil - Date.now() + 20);
    } else if (isOver(packet) || (rainOf(view).wave ?? 0) > rainOf(view).drawn) {
      this.timer = setTimeout(() => askRain(view).then(() => change()), resultPatience);
    }
  }

  grab = (e) => {
    e?.preventDefault();
    grabWave(this.props.view);
  };

  render({ view }) {
    const { packet } = view;
    const open = openWave(view);
    const mayGrab = open > enteredWave(view);
    return h(Fragment, null,
      h('form', { class: `rain-bar ${mayGrab ? 'now' : ''}`, 'aria-label': t('rain.title'), onSubmit: this.grab },
        h('div', { class: 'grow rain-words' },
          h('p', { class: 'rain-said' }, said(view, open)),
          h('p', { class: 'small number' }, rainLine(view), h(TimeLeft, { packet }))),
        packet.locked && !enteredWave(view) && h('label', { class: 'rain-phrase' },
          h(Icon, { name: 'lock', size: 16 }), h('span', { class: 'only-read' }, t('packet.passphrase')),
          h('input', { value: view.phrase, placeholder: t('packet.passphrase'), autocomplete: 'off', autocapitalize: 'off', spellcheck: false, onInput: (e) => change(() => { view.phrase = e.target.value; }) })),
        h('button', { class: 'button gold rain-grab', ref: this.button, type: 'submit', 'aria-disabled': !mayGrab, 'aria-busy': view.grab === 'asking' }, t('rain.grab'))),
      mayGrab && view.grab === 'no' && !calm() && h(Falling, { packet, key: open, grab: this.grab }));
  }
}

/** What there is to say: the answer to the last grab, what has become of the wave, or that one is waited for. @param {import('../state.js').PacketView} view @param {number} open */
export function said(view, open) {
  const entered = enteredWave(view);
  const { drawn, wave = 0 } = rainOf(view);
  if (view.receiptIs === 'bad') return t('draw.receiptWrong');
  if (view.refusal) return refused(view, 0);
  if (open > entered) return t(view.answer === 'missed' ? 'rain.missed' : 'rain.falls');
  if (entered > drawn && entered === wave) return t('rain.in');
  if (isOver(view.packet)) return t('rain.ending');
  if (view.answer === 'missed') return t('rain.missed');
  const win = winsOf(view).find((w) => w.wave === drawn);
  if (win) return t('rain.won', { amount: money(win.amount) });
  return t(entered && entered === drawn ? 'rain.lost' : 'rain.waiting');
}

function rainLine(view) {
  const wins = winsOf(view);
  const all = wins.length > 0 && t('rain.sum', { amount: money(view.state.mine?.amount ?? 0), count: wins.length });
  return [present(view), all].filter(Boolean).map((word) => `${word} · `).join('');
}

const places = [6, 19, 33, 46, 60, 73, 86]; // in percent of the width

/** A few envelopes fall over the room. A tap on any of them grabs. */
class Falling extends Component {
  shouldComponentUpdate() { return false; }

  render({ packet, grab }) {
    return h('div', { ...skinned(packet.skin, 'rain-fall'), 'aria-hidden': 'true' }, places.map((left, i) => h('i', {
      key: left, class: 'rain-drop', style: { insetInlineStart: `${left}%`, animationDelay: `${(i * 5 % places.length) * 130}ms`, animationDuration: `${1300 + (i * 3 % places.length) * 90}ms` }, onPointerDown: grab,
    }, h('b', null))));
  }
}
