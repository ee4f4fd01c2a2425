// The time that is left to enter a draw: a ring that closes, and in words. Both follow the server's clock.
import { h, Component, createRef } from '../dom.js';
import { change } from '../state.js';
import { t } from '../words.js';
import { duration } from '../format.js';
import { serverNow } from '../model/clock.js';
import { calm } from '../motion.js';

const shortest = 100; // ms between two steps of a ring; few are enough, so it is no animation
const steps = 200;

/** @param {import('../../sdk/types.js').Packet} packet */
function leftOf({ expires_at: ends }) { return ends === undefined ? Infinity : Math.max(0, ends - serverNow()); }

/** The window of a draw has ended. @param {import('../../sdk/types.js').Packet} packet */
export function isOver(packet) { return leftOf(packet) === 0; }

/** It is whole for a packet that is not sent yet. With reduced motion it rests. */
export class Ring extends Component {
  left = createRef();

  componentDidMount() { this.step(); }

  componentWillUnmount() { clearTimeout(this.timer); }

  step = () => {
    const { packet } = this.props;
    const all = packet.window_s * 1000;
    const left = calm() && !isOver(packet) ? all : Math.min(all, leftOf(packet));
    this.left.current.style.strokeDashoffset = String(left / all - 1);
    if (left > 0 && packet.expires_at && !calm()) this.timer = setTimeout(this.step, Math.max(shortest, all / steps));
  };

  render() {
    return h('svg', { class: 'draw-ring', viewBox: '0 0 48 48', 'aria-hidden': 'true', focusable: 'false' },
      h('circle', { class: 'draw-track', cx: 24, cy: 24, r: 22 }),
      h('circle', { class: 'draw-left', ref: this.left, cx: 24, cy: 24, r: 22, pathLength: 1, transform: 'rotate(-90 24 24)' }));
  }
}

/** The time left, second by second. At the end the page is drawn again. bare: no word after it. */
export class TimeLeft extends Component {
  componentDidMount() { this.wait(); }

  componentWillUnmount() { clearTimeout(this.timer); }

  wait() {
    const left = leftOf(this.props.packet);
    if (left === 0) return;
    this.timer = setTimeout(() => {
      if (isOver(this.props.packet)) change();
      else this.forceUpdate();
      this.wait();
    }, Math.min(left, left % 1000 || 1000));
  }

  render({ packet, bare }) {
    const left = leftOf(packet);
    if (left === 0) return bare ? '…' : t('draw.drawing');
    const time = remaining(left);
    return bare ? time : t('envelope.left', { time });
  }
}

/** "12 s", "1 min 12 s": the seconds count, however many there are. @param {number} ms */
function remaining(ms) {
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60) * 60;
  return [minutes, seconds - minutes].filter(Boolean).map((s) => duration(s * 1000)).join(' ');
}
