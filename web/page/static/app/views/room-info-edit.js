// The form for the name and the announcement of a room.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { number } from '../format.js';
import { saveRoom } from '../actions/governing.js';

export class EditRoom extends Component {
  first = createRef();

  constructor(props) {
    super(props);
    const { name, announcement = '' } = props.view.room;
    this.state = { name, announcement, busy: false, error: null };
  }

  componentDidMount() { this.first.current.focus(); }

  componentWillUnmount() { this.gone = true; }

  /** The error of a field, as text. */
  wrong(field) {
    const { name, announcement } = this.state;
    if (field === 'name' && !name.trim()) return t('info.nameNeeded');
    const [text, most] = field === 'name' ? [name.trim(), state.limits.name_chars] : [announcement, state.limits.announcement_chars];
    const over = [...text].length - most;
    return over > 0 ? t('info.over', { count: over, shown: number(over) }) : '';
  }

  async save(e) {
    e.preventDefault();
    const { view, done } = this.props;
    const { name, announcement, busy } = this.state;
    if (busy || this.wrong('name') || this.wrong('announcement')) return;
    const to = {};
    if (name.trim() !== view.room.name) to.name = name.trim();
    if (announcement.trim() !== (view.room.announcement ?? '')) to.announcement = announcement.trim();
    this.setState({ busy: true, error: null });
    try {
      if (Object.keys(to).length) await saveRoom(view, to);
      if (!this.gone) done();
    } catch (error) {
      if (!this.gone) this.setState({ busy: false, error });
    }
  }

  field(name, element, extra) {
    const wrong = this.wrong(name);
    return h('div', null,
      h('label', { class: 'field' },
        h('span', null, t(name === 'name' ? 'info.name' : 'info.announcement')),
        h(element, {
          class: 'input', value: this.state[name], 'aria-invalid': !!wrong, 'aria-describedby': wrong ? `wrong-${name}` : undefined,
          onInput: (e) => this.setState({ [name]: e.target.value }), ...extra,
        })),
      wrong && h('p', { class: 'problem', id: `wrong-${name}`, role: 'alert' }, wrong));
  }

  render({ done }, { busy, error }) {
    return h('form', {
      class: 'stack', 'aria-label': t('info.edit'), onSubmit: (e) => this.save(e),
      onKeyDown: (e) => {
        if (e.key !== 'Escape') return;
        e.preventDefault();
        e.stopPropagation();
        done();
      },
    },
    this.field('name', 'input', { ref: this.first, autoComplete: 'off' }),
    this.field('announcement', 'textarea', { rows: 4 }),
    error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
    h('div', { class: 'row' },
      h('button', { class: 'button grow', type: 'button', onClick: done }, t('cancel')),
      h('button', {
        class: 'button primary grow', type: 'submit', 'aria-busy': busy,
        disabled: busy || !!this.wrong('name') || !!this.wrong('announcement'),
      }, t('info.save'))));
  }
}
