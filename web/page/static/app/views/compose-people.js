// The recipients of a packet: members of the room, with search; chosen users are shown above as chips. single: one user at most.
import { h, Component } from '../dom.js';
import { holds } from '../matching.js';
import { inWords, t } from '../words.js';
import { readMembers } from '../actions/governing.js';
import { isSystemUser } from '../model/members.js';
import { Avatar } from './parts.js';
import { Icon } from './icon.js';

const enough = 20; // more are not shown at once

export class People extends Component {
  state = { /** @type {import('../state.js').User[]} */ members: [], next: '', loading: false, error: /** @type {any} */ (null),
    query: '' };

  componentDidMount() { this.load(); }

  componentDidUpdate() {
    // The searched user may be on a later page.
    if (this.state.query && this.state.next && !this.state.error && this.found().length < enough) this.load();
  }

  componentWillUnmount() { this.gone = true; }

  load = async () => {
    if (this.busy) return;
    this.busy = true;
    this.setState({ loading: true, error: null });
    try {
      const { users, next } = await readMembers(this.props.view, this.state.next);
      if (!this.gone) this.setState({ members: [...this.state.members, ...users], next });
    } catch (error) {
      this.setState({ error });
    }
    this.busy = false;
    this.setState({ loading: false });
  };

  found() {
    return this.state.members.filter((user) => !isSystemUser(user.id) && holds(user.name, this.state.query));
  }

  toggle(user) {
    const { chosen, onChosen, single } = this.props;
    const without = chosen.filter((u) => u.id !== user.id);
    onChosen(without.length === chosen.length ? [...(single ? [] : chosen), user] : without);
  }

  render({ chosen, problem, single }, { query, loading, error, next }) {
    const found = this.found();
    return h('div', { class: 'people' },
      chosen.length > 0 && !single && h('ul', { class: 'chips' }, chosen.map((user) => h('li', { key: user.id },
        h('button', { class: 'chip', type: 'button', 'aria-label': t('compose.remove', { name: user.name }),
          onClick: () => this.toggle(user) },
          h('span', { class: 'cut' }, user.name), h(Icon, { name: 'close', size: 14 }))))),
      h('input', {
        class: 'input', type: 'search', name: 'to', 'aria-label': t('compose.search'), placeholder: t('compose.search'), value: query,
        autocomplete: 'off',
        'aria-invalid': Boolean(problem), onInput: (e) => this.setState({ query: e.target.value }),
        onKeyDown: (e) => { if (e.key === 'Enter') e.preventDefault(); },
      }),
      problem && h('p', { class: 'problem', role: 'alert' }, problem),
      h('ul', { class: 'people-list', 'aria-label': t('compose.whom') }, found.slice(0, 3 * enough).map((user) => h('li', { key: user.id },
        h('label', null,
          h('input', { type: single ? 'radio' : 'checkbox', name: single ? 'compose-one' : undefined, checked: chosen.some((u) => u.id === user.id), onChange: () => this.toggle(user) }),
          h(Avatar, { user, size: 'small' }),
          h('span', { class: 'cut' }, user.name)))),
      !found.length && h('li', { class: 'muted small people-none' },
        error ? inWords(error) : t(loading || next ? 'loading' : 'compose.nobody'))),
      error && h('button', { class: 'button', type: 'button', onClick: this.load }, t('again')),
      (found.length > 3 * enough || (next && !query)) && h('p', { class: 'muted small' }, t('compose.narrow')));
  }
}
