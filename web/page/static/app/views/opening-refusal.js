// Why an envelope did not open, with the seconds to wait (screen readers do not read each one).
import { h, Component } from '../dom.js';
import { refused } from './opening-words.js';

export class Refusal extends Component {
  error = null;
  until = 0;

  componentWillUnmount() { clearInterval(this.timer); }

  render({ view }) {
    const error = view.refusal;
    if (error !== this.error) this.begin(error);
    if (!error) return null;
    const wait = Math.ceil((this.until - Date.now()) / 1000);
    if (wait <= 0) clearInterval(this.timer);
    return h('p', { class: 'opening-refusal', role: error.word === 'rate_limited' ? undefined : 'alert' }, refused(view, wait));
  }

  begin(error) {
    clearInterval(this.timer);
    this.error = error;
    this.until = Date.now() + (error?.fields?.retry_after_ms ?? 0);
    if (this.until > Date.now()) this.timer = setInterval(() => this.forceUpdate(), 1000);
  }
}
