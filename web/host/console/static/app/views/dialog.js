// The dialog of an act: its fields, and the reason, which is stored with it.
import { h, Component, createRef } from '../dom.js';
import { change } from '../state.js';
import { t } from '../words.js';
import { errorText } from '../parts.js';

export class ActDialog extends Component {
  dialog = createRef();

  componentDidMount() { this.dialog.current.showModal(); }

  submit = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.currentTarget));
    this.setState({ busy: true, error: undefined });
    try {
      const reason = [values.why, values.reason.trim()].filter(Boolean).join(': ');
      await this.props.act.run({ ...values, reason });
      this.dialog.current.close();
      this.props.act.done?.();
    } catch (error) {
      this.setState({ busy: false, error: errorText(error) });
    }
  };

  render({ act }, { busy, error }) {
    return h('dialog', { ref: this.dialog, 'aria-labelledby': 'act-title', onClose: () => change({ dialog: undefined }) },
      h('form', { onSubmit: this.submit },
        h('h2', { id: 'act-title', class: 'flat' }, act.title),
        act.says && h('p', null, act.says),
        act.fields?.(),
        h('label', null, t('reason.kind'), h('select', { name: 'why' }, ['complaint', 'abuse', 'fraud', 'mistake', 'law', 'other'].map((word) => h('option', { value: word }, t(`reason.${word}`))))),
        h('label', null, t('reason.words'), h('input', { name: 'reason', required: true, maxLength: 180, autocomplete: 'off' })),
        error && h('p', { role: 'alert', class: 'bad' }, error),
        h('div', { class: 'acts' }, h('button', { class: 'main', disabled: busy }, t('reason.do')), h('button', { type: 'button', onClick: () => this.dialog.current.close() }, t('cancel')))));
  }
}
