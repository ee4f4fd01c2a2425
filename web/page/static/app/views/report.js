// Reports a message, a packet or a person to the host: a reason from a short list, and words that are optional.
import { h, Component, createRef } from '../dom.js';
import { inWords, t } from '../words.js';
import { newKey } from '../../sdk/key.js';
import { report } from '../actions/reports.js';
import { Icon } from './icon.js';

/** @type {import('../../sdk/types.js').ReportReason[]} */
const reasons = ['spam', 'scam', 'abuse', 'sexual', 'violence', 'other'];
const maxText = 500; // characters, as the server counts them

/** about: room and seq of an entry, or a user; question: what the form asks. */
export class Report extends Component {
  state = { asked: false, busy: false, sent: false, reason: '', text: '', key: '', error: null };

  button = createRef();
  first = createRef();
  thanks = createRef();

  componentDidUpdate(_, before) {
    if (before.sent !== this.state.sent) this.thanks.current?.focus();
    else if (before.asked !== this.state.asked) (this.state.asked ? this.first : this.button).current?.focus();
  }

  componentWillUnmount() { this.gone = true; }

  /** The key stays the same while the form is open, so that a second try is the same report. */
  open() { this.setState({ asked: true, reason: '', text: '', key: newKey(), error: null }); }

  /** The key closes the form alone, not the sheet around it. */
  close(e) {
    e.preventDefault();
    e.stopPropagation();
    this.setState({ asked: false, error: null });
  }

  async send(e) {
    e.preventDefault();
    const { reason, text, key, busy } = this.state;
    if (!reason || busy) return;
    this.setState({ busy: true, error: null });
    let error = null;
    try {
      await report({ ...this.props.about, reason, key, ...(text.trim() && { text: text.trim() }) });
    } catch (problem) {
      error = problem;
    }
    if (!this.gone) this.setState({ busy: false, sent: !error, error });
  }

  render({ question }, { asked, sent, error }) {
    if (sent) return h('p', { class: 'report-thanks', role: 'status', tabIndex: -1, ref: this.thanks }, h(Icon, { name: 'check', size: 20 }), t('report.thanks'));
    return h('div', { class: 'panel-act' },
      asked ? this.form(question) : h('button', { class: 'act-button', type: 'button', ref: this.button, onClick: () => this.open() },
        h(Icon, { name: 'flag', size: 20 }), h('span', { class: 'grow' }, t('report.open'))),
      error && h('p', { class: 'problem', role: 'alert' }, inWords(error)));
  }

  form(question) {
    const { reason, text, busy } = this.state;
    return h('form', {
      class: 'act-question', 'aria-label': t('report.open'), onSubmit: (e) => this.send(e), onKeyDown: (e) => { if (e.key === 'Escape') this.close(e); },
    },
    h('fieldset', { class: 'report-reasons' },
      h('legend', null, question),
      reasons.map((r, i) => h('label', { key: r },
        h('input', {
          type: 'radio', name: 'reason', value: r, checked: r === reason, ref: i === 0 ? this.first : undefined, onChange: () => this.setState({ reason: r }),
        }), h('span', null, t(`report.reasons.${r}`))))),
    h('label', { class: 'field' }, h('span', null, t('report.text')),
      h('textarea', { class: 'input', rows: 2, maxLength: maxText, value: text, onInput: (e) => this.setState({ text: e.target.value }) })),
    h('p', { class: 'muted small' }, t('report.who')),
    h('div', { class: 'row' },
      h('button', { class: 'button grow', type: 'button', onClick: (e) => this.close(e) }, t('cancel')),
      h('button', { class: 'button primary grow', type: 'submit', disabled: !reason || busy, 'aria-busy': busy }, t('report.send'))));
  }
}
