// Invites users to a room: known users, or users whose id is typed; several at once.
import { h, Component, createRef } from '../dom.js';
import { state, toast } from '../state.js';
import { inWords, t } from '../words.js';
import { number } from '../format.js';
import { isCalled } from '../matching.js';
import { isSystemUser, memberOf } from '../model/members.js';
import { distinction, peopleMet } from '../model/people.js';
import { nameOf } from '../model/rooms.js';
import { invite, renewMembers } from '../actions/governing.js';
import { closeSheet } from '../route.js';
import { Icon } from './icon.js';
import { Avatar } from './parts.js';

const id = /^[A-Za-z0-9_.:@-]{1,64}$/;

export class Invite extends Component {
  state = { query: '', chosen: /** @type {string[]} */ ([]), busy: false, error: null };

  search = createRef();

  componentDidMount() { renewMembers(this.props.view); }

  componentWillUnmount() { this.gone = true; }

  toggle(user) {
    const { chosen } = this.state;
    this.setState({ chosen: chosen.includes(user) ? chosen.filter((u) => u !== user) : [...chosen, user], error: null });
  }

  /** Adds an id that was typed. */
  add(user) {
    this.setState({ chosen: [...this.state.chosen.filter((u) => u !== user), user], query: '', error: null });
    this.search.current.focus();
  }

  async send(e) {
    e.preventDefault();
    const { chosen, busy } = this.state;
    if (busy || !chosen.length) return;
    this.setState({ busy: true, error: null });
    try {
      await invite(this.props.view, chosen);
      toast(t('invite.done', { count: chosen.length, shown: number(chosen.length) }));
      if (!this.gone) closeSheet();
    } catch (error) {
      if (!this.gone) this.setState({ busy: false, error });
    }
  }

  /** Users that can be invited: known, and not among the loaded members. */
  outside() {
    return peopleMet().filter((u) => !memberOf(this.props.view, u.id));
  }

  /** Whether the typed text is the id of an unknown user. */
  isNewId(typed, outside) {
    return id.test(typed) && typed !== state.me?.id && !isSystemUser(typed) && !memberOf(this.props.view, typed) && !outside.some((u) => u.id === typed)
      && !this.state.chosen.includes(typed);
  }

  /** Enter adds the user found; the button invites. */
  take(e, shown, isNew) {
    const typed = this.state.query.trim();
    if (e.key !== 'Enter' || !typed) return;
    e.preventDefault();
    if (isNew && !shown.length) this.add(typed);
    else if (shown.length === 1) this.toggle(shown[0].id);
  }

  render({ view }, { query, chosen, busy, error }) {
    const typed = query.trim();
    const outside = this.outside();
    const shown = outside.filter((u) => isCalled(u, query));
    const isNew = this.isNewId(typed, outside);
    const count = { count: chosen.length, shown: number(chosen.length), room: nameOf(view) };
    return h('form', { class: 'invite stack', onSubmit: (e) => this.send(e) },
      h('label', { class: 'field' }, h('span', null, t('invite.who')),
        h('input', {
          class: 'input', type: 'search', ref: this.search, autoFocus: state.wide, // on a phone the keyboard would hide the list
          autoComplete: 'off', autoCapitalize: 'off', spellcheck: false, value: query,
          onInput: (e) => this.setState({ query: e.target.value }), onKeyDown: (e) => this.take(e, shown, isNew),
        })),
      chosen.length > 0 && h('ul', { class: 'panel-chips', 'aria-label': t('invite.chosen') },
        chosen.map((user) => h('li', { key: user }, h(Chip, { user, drop: () => this.toggle(user) })))),
      h('ul', { class: 'panel-list' },
        isNew && h('li', { key: 'new' }, h(NewId, { id: typed, add: () => this.add(typed) })),
        shown.map((user) => h('li', { key: user.id },
          h(Choice, { user, id: distinction(user, outside), chosen: chosen.includes(user.id), toggle: () => this.toggle(user.id) })))),
      !shown.length && !isNew && !chosen.length && h('p', { class: 'muted', role: 'status' }, t(typed ? 'invite.nobody' : 'invite.empty')),
      h('div', { class: 'invite-foot' },
        error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
        h('button', { class: 'button primary wide', type: 'submit', disabled: busy || !chosen.length, 'aria-busy': busy },
          chosen.length ? t('invite.send', count) : t('invite.choose'))));
  }
}

function NewId({ id: typed, add }) {
  return h('button', { class: 'panel-row', type: 'button', onClick: add },
    h('span', { class: 'panel-disc' }, h(Icon, { name: 'plus', size: 20 })),
    h('span', { class: 'grow cut' }, t('invite.byId', { id: typed })));
}

function Choice({ user, id: shownId, chosen, toggle }) {
  return h('label', { class: 'panel-row pick' },
    h(Avatar, { user }),
    h('span', { class: 'grow' },
      h('span', { class: 'cut line', dir: 'auto' }, user.name || user.id),
      shownId && h('span', { class: 'muted small cut line' }, shownId)),
    h('input', { type: 'checkbox', checked: chosen, onChange: toggle }));
}

function Chip({ user, drop }) {
  const name = state.people.get(user)?.name || user;
  return h('button', { class: 'panel-chip', type: 'button', 'aria-label': t('invite.drop', { name }), onClick: drop },
    h('span', { class: 'cut', dir: 'auto' }, name), h(Icon, { name: 'close', size: 14 }));
}
