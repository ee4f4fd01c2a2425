// The time until a packet's deadline. It updates itself.
import { h, Component } from '../dom.js';
import { t } from '../words.js';
import { duration, fullTime } from '../format.js';

export class Countdown extends Component {
  componentDidMount() { this.timer = setInterval(() => this.forceUpdate(), 1000); }

  componentWillUnmount() { clearInterval(this.timer); }

  render({ until }) {
    const left = until - Date.now();
    return h('time', { class: 'number', dateTime: new Date(until).toISOString(), title: fullTime(until) },
      left > 0 ? t('packet.until', { time: remaining(left) }) : t('packet.ending'));
  }
}

/** 23 h 59 min, 4 min 12 s: two units are enough. */
function remaining(ms) {
  const s = Math.ceil(ms / 1000);
  for (const unit of [86_400, 3600, 60]) {
    if (s < unit) continue;
    const rest = Math.floor((s % unit) / finer[unit]) * finer[unit];
    return [s - (s % unit), rest].filter(Boolean).map((part) => duration(part * 1000)).join(' ');
  }
  return duration(s * 1000);
}

const finer = { 86_400: 3600, 3600: 60, 60: 1 };
