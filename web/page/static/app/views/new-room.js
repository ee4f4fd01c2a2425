// The sheet that creates a room.
import { h, Component, createRef } from '../dom.js';
import { newKey } from '../../sdk/key.js';
import { state } from '../state.js';
import { number } from '../format.js';
import { inWords, t } from '../words.js';
import { createRoom } from '../actions/rooms.js';
import { inviters } from '../model/rooms.js';
import { Choice } from './choice.js';
import { Icon } from './icon.js';

export class NewRoom extends Component {
  state = { name: '', kind: /** @type {'public'|'private'} */ ('private'), invite: undefined, guests: true, packets: true, isSent: false, isMaking: false, error: null };

  key = newKey(); // of the present fields: a second try creates no second room

  input = createRef();

  componentDidMount() { this.input.current.focus(); }

  set(fields) {
    this.key = newKey();
    this.setState({ ...fields, error: null });
  }

  /** The error of the name; '' if there is none. */
  problem() {
    const { name, isSent, error } = this.state;
    const most = state.limits?.name_chars ?? 64;
    const length = [...name.trim()].length;
    if (length > most) return t('newRoom.tooLong', { count: length - most, shown: number(length - most) });
    if (isSent && !length) return t('newRoom.noName');
    return error ? inWords(error) : '';
  }

  async submit(e) {
    e.preventDefault();
    const { name, kind, invite, guests, packets, isMaking } = this.state;
    if (isMaking) return;
    this.setState({ isSent: true, error: null });
    const chars = [...name.trim()].length;
    if (!chars || chars > (state.limits?.name_chars ?? 64)) {
      this.input.current.focus();
      return;
    }
    this.setState({ isMaking: true });
    try {
      await createRoom({ name: name.trim(), kind, invite, guests, packets, key: this.key });
    } catch (error) {
      this.setState({ isMaking: false, error });
    }
  }

  render(_, { name, kind, invite, guests, packets, isMaking }) {
    const problem = this.problem();
    return h('form', { class: 'stack', noValidate: true, onSubmit: (e) => this.submit(e) },
      h('div', { class: 'field' },
        h('label', { class: 'small muted', for: 'new-room-name' }, t('newRoom.name')),
        h('input', {
          class: 'input', id: 'new-room-name', ref: this.input, value: name, autocomplete: 'off', enterkeyhint: 'done',
          placeholder: t('newRoom.example'), 'aria-invalid': problem ? 'true' : 'false', 'aria-describedby': 'new-room-said',
          onInput: (e) => this.set({ name: e.target.value }),
        }),
        h('p', { class: 'problem one-line', id: 'new-room-said', role: 'alert' }, problem)),
      h('fieldset', { class: 'kinds' },
        h('legend', { class: 'small muted' }, t('newRoom.who')),
        [['private', 'lock'], ['public', 'people']].map(([value, icon]) => (
          h(Kind, { key: value, value, icon, checked: value === kind, choose: () => this.set({ kind: value }) })))),
      h(Choice, { label: t('info.inviters.title'), name: 'new-room-inviters', value: inviters({ kind, invite }), choose: (value) => this.set({ invite: value }),
        options: ['members', 'admins'].map((value) => ({ value, label: t(`info.inviters.${value}`) })) }),
      state.page?.guests && !state.me?.guest && h('label', { class: 'switch' },
        h('span', { class: 'grow' }, t('info.guests')),
        h('input', { type: 'checkbox', role: 'switch', checked: guests, onChange: (e) => this.set({ guests: e.target.checked }) })),
      h('label', { class: 'switch' },
        h('span', { class: 'grow' }, t('info.packets')),
        h('input', { type: 'checkbox', role: 'switch', checked: packets, onChange: (e) => this.set({ packets: e.target.checked }) })),
      h('button', { class: 'button primary wide', type: 'submit', 'aria-disabled': isMaking ? 'true' : 'false' },
        isMaking && h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('newRoom.make')));
  }
}

function Kind({ value, icon, checked, choose }) {
  return h('label', { class: 'kind' },
    h('input', { class: 'only-read', type: 'radio', name: 'new-room-kind', value, checked, onChange: choose }),
    h(Icon, { name: icon }),
    h('span', { class: 'grow' },
      h('strong', null, t(`newRoom.${value}`)),
      h('span', { class: 'muted small' }, t(`newRoom.${value}Means`))),
    h('span', { class: 'kind-check' }, h(Icon, { name: 'check', size: 20 })));
}
