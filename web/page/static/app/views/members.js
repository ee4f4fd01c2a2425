// The members of a room.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { number } from '../format.js';
import { isCalled } from '../matching.js';
import { isMuted } from '../model/members.js';
import { marksGuests } from '../model/people.js';
import { mayInvite, peopleIn } from '../model/rooms.js';
import { moreMembers, renewMembers } from '../actions/governing.js';
import { openSheet } from '../route.js';
import { Endless } from './endless.js';
import { Icon } from './icon.js';
import { Avatar } from './parts.js';

const fewEnough = 8; // few enough to need no search

export class Members extends Component {
  state = { query: '' };

  componentDidMount() { this.renew(); }

  /** In a public room no event says which members come and go: only how many there are. */
  componentDidUpdate() {
    const { members, room } = this.props.view;
    if (members.complete && !members.loading && members.items.length !== peopleIn(room) && this.count !== room.members) this.renew();
  }

  renew() {
    this.count = this.props.view.room.members;
    renewMembers(this.props.view);
  }

  render({ view }, { query }) {
    const { members, room } = view;
    const found = members.items.filter((m) => isCalled(m.user, query));
    return h('section', { class: 'members', 'aria-label': t('info.members') },
      h('div', { class: 'row section-head' },
        h('h3', { class: 'grow' }, t('info.members'), ' ', h('span', { class: 'muted number' }, number(peopleIn(room)))),
        mayInvite(view) && h('button', { class: 'button', type: 'button', onClick: () => openSheet('links') },
          h(Icon, { name: 'plus', size: 18 }), t('invite.title'))),
      (members.items.length > fewEnough || query) && h('input', {
        class: 'input', type: 'search', placeholder: t('info.search'), 'aria-label': t('info.search'), value: query,
        onInput: (e) => this.setState({ query: e.target.value }),
      }),
      h('ul', { class: 'panel-list' }, found.map((m) => h('li', { key: m.user.id }, h(MemberRow, { member: m })))),
      members.loaded && !found.length && h('p', { class: 'muted', role: 'status' }, t(members.complete ? 'info.nobody' : 'info.nobodyYet')),
      h(Endless, { pages: members, first: () => renewMembers(view), more: () => moreMembers(view) }));
  }
}

function MemberRow({ member }) {
  const { user, role } = member;
  const online = state.online.get(user.id);
  return h('button', { class: 'panel-row', type: 'button', onClick: () => openSheet('person', user.id) },
    h(Avatar, { user }),
    h('span', { class: 'grow' },
      h('span', { class: 'cut line' }, user.name || user.id),
      (user.id === state.me?.id || online) && h('span', { class: 'muted small cut line' },
        [user.id === state.me?.id && t('you'), online && t('room.online')].filter(Boolean).join(' · '))),
    user.guest && marksGuests() && h('span', { class: 'panel-mark' }, t('person.guest')),
    isMuted(member) && h('span', { class: 'panel-mark' }, t('info.muted')),
    role !== 'member' && h('span', { class: `panel-mark ${role}` }, t(`info.role.${role}`)));
}
