// The sheet that begins a direct chat: with a known user, or by id.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { isSystemUser } from '../model/members.js';
import { distinction, peopleCalled } from '../model/people.js';
import { openDirect } from '../actions/rooms.js';
import { Avatar } from './parts.js';
import { Icon } from './icon.js';

const shownAtMost = 50;

export class Direct extends Component {
  state = { text: '', asking: '', error: null };

  input = createRef();

  componentDidMount() { this.input.current.focus(); }

  async open(user) {
    if (this.state.asking) return;
    this.setState({ asking: user, error: null });
    try {
      await openDirect(user);
    } catch (error) {
      this.setState({ asking: '', error });
    }
  }

  render(_, { text, asking, error }) {
    const wanted = text.trim();
    const people = peopleCalled(wanted, shownAtMost);
    const isId = /^[A-Za-z0-9_.:@-]{1,64}$/.test(wanted) && wanted !== state.me?.id && !isSystemUser(wanted) && !people.some((user) => user.id === wanted);
    const submit = (e) => {
      e.preventDefault();
      if (isId) this.open(wanted);
      else if (people.length === 1) this.open(people[0].id);
    };
    return h('form', { class: 'stack tall', onSubmit: submit },
      h('div', { class: 'field' },
        h('label', { class: 'small muted', for: 'direct-who' }, t('direct.who')),
        h('input', {
          class: 'input', id: 'direct-who', ref: this.input, value: text, autocomplete: 'off', autocapitalize: 'none', spellcheck: false,
          enterkeyhint: 'go', 'aria-invalid': error ? 'true' : 'false', 'aria-describedby': 'direct-said',
          onInput: (e) => this.setState({ text: e.target.value, error: null }),
        }),
        h('p', { class: 'problem one-line', id: 'direct-said', role: 'alert' },
          error && (error.word === 'contact_refused' ? t('direct.unknown') : inWords(error)))),
      isId && h('button', { class: 'button', type: 'submit', disabled: !!asking },
        h(Icon, { name: 'person', size: 20 }), h('span', { class: 'cut' }, t('direct.byId', { id: wanted }))),
      people.length > 0 && h('ul', { 'aria-label': t('direct.met') }, people.map((user) => h('li', { key: user.id },
        h('button', { class: 'person-row', type: 'button', disabled: !!asking, onClick: () => this.open(user.id) },
          h(Avatar, { user }),
          h('span', { class: 'grow public-room-words' },
            h('strong', { class: 'cut', dir: 'auto' }, user.name || user.id),
            distinction(user, people) && h('span', { class: 'muted small cut' }, user.id)),
          asking === user.id && h('span', { class: 'spinner', 'aria-hidden': 'true' }))))),
      !people.length && !isId && h('p', { class: 'muted', role: 'status' }, t(wanted ? 'direct.nobody' : 'direct.metNobody')));
  }
}
