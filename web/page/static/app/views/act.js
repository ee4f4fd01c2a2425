// A button for a command that takes time or cannot be undone: the latter is confirmed first, and an error is shown
// below.
import { h, Component, createRef } from '../dom.js';
import { inWords, t } from '../words.js';
import { Icon } from './icon.js';

/**
 * label, icon; act: runs it; question, yes: confirmation; word: must be typed before; kind: class of the button.
 */
export class Act extends Component {
  state = { asked: false, busy: false, typed: '', error: null };

  button = createRef();
  first = createRef();

  componentDidUpdate(_, before) {
    if (before.asked === this.state.asked) return;
    (this.state.asked ? this.first : this.button).current?.focus();
  }

  componentWillUnmount() { this.gone = true; }

  press() {
    if (this.props.question) this.setState({ asked: true, typed: '', error: null });
    else this.run();
  }

  async run() {
    this.setState({ busy: true, error: null });
    let error = null;
    try {
      await this.props.act();
    } catch (e) {
      error = e;
    }
    if (!this.gone) this.setState({ busy: false, asked: this.state.asked && !!error, error });
  }

  render(props, { asked, busy, error }) {
    return h('div', { class: 'panel-act' },
      asked ? this.question(props) : h('button', {
        class: `act-button ${props.kind ?? ''}`, type: 'button', ref: this.button, disabled: busy, 'aria-busy': busy,
        onClick: () => this.press(),
      },
      props.icon && h(Icon, { name: props.icon, size: 20 }),
      h('span', { class: 'grow' }, props.label),
      busy && h('span', { class: 'spinner' })),
      error && h('p', { class: 'problem', role: 'alert' }, inWords(error)));
  }

  question({ question, yes, word, wordLabel, label }) {
    const { busy, typed } = this.state;
    const ready = !word || typed.trim() === word.trim();
    return h('form', {
      class: 'act-question', 'aria-label': label,
      onSubmit: (e) => { e.preventDefault(); if (ready && !busy) this.run(); },
      onKeyDown: (e) => { if (e.key === 'Escape') this.close(e); },
    },
    h('p', null, question),
    word && h('label', { class: 'field' }, h('span', null, wordLabel),
      h('input', {
        class: 'input', ref: this.first, autoComplete: 'off', value: typed, onInput: (e) => this.setState({ typed: e.target.value }),
      })),
    h('div', { class: 'row' },
      h('button', { class: 'button grow', type: 'button', ref: word ? undefined : this.first, onClick: (e) => this.close(e) }, t('cancel')),
      h('button', { class: 'button primary grow', type: 'submit', disabled: !ready || busy, 'aria-busy': busy }, yes)));
  }

  /** The key closes the question alone, not the sheet around it. */
  close(e) {
    e.preventDefault();
    e.stopPropagation();
    this.setState({ asked: false, error: null });
  }
}
