// The time until a packet opens, by the server's clock: second by second in the last hour, before that the instant. Then the page is drawn again.
import { h, Component } from '../dom.js';
import { change } from '../state.js';
import { t } from '../words.js';
import { duration, fullTime } from '../format.js';
import { untilOpen } from '../model/early.js';

const hour = 3_600_000;
const longest = 2 ** 31 - 1; // ms; the longest timer

export class OpensIn extends Component {
  componentDidMount() { this.wait(); }

  componentWillUnmount() { clearTimeout(this.timer); }

  wait() {
    const left = untilOpen(this.props.packet);
    if (left === 0) return;
    this.timer = setTimeout(() => {
      if (untilOpen(this.props.packet) === 0) change();
      else this.forceUpdate();
      this.wait();
    }, left > hour ? Math.min(left - hour, longest) : left % 1000 || 1000);
  }

  render({ packet }) {
    const left = untilOpen(packet);
    if (left === 0) return null;
    return left > hour ? t('envelope.opensAt', { at: fullTime(packet.opens_at) }) : t('envelope.opensIn', { time: countdown(left) });
  }
}

/** "12 s", "1 min 12 s". @param {number} ms */
function countdown(ms) {
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60) * 60;
  return [minutes, seconds - minutes].filter(Boolean).map((s) => duration(s * 1000)).join(' ');
}
