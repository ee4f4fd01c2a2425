// A user: name, direct chat, and the commands about the user in the room.
import { h, Component, Fragment } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { block, loadContacts, unblock } from '../actions/contacts.js';
import { copy } from '../actions/copy.js';
import { findMember } from '../actions/governing.js';
import { openDirect } from '../actions/rooms.js';
import { openSheet } from '../route.js';
import { marksGuests } from '../model/people.js';
import { takesPackets } from '../model/rooms.js';
import { isAbove, isMuted, isSystemUser, memberOf } from '../model/members.js';
import { untilTime } from '../format.js';
import { Act } from './act.js';
import { Govern } from './person-govern.js';
import { Icon } from './icon.js';
import { Avatar } from './parts.js';
import { Report } from './report.js';


export class PersonSheet extends Component {
  /** The role is known from the list of members alone. */
  componentDidMount() {
    const { view, id } = this.props;
    if (isSystemUser(id)) return;
    loadContacts();
    if (view && view.room.kind !== 'direct') findMember(view, id);
  }

  render({ view, id }) {
    const user = state.people.get(id) ?? { id, name: id };
    if (isSystemUser(id)) return h('div', { class: 'person stack' }, h(PersonHead, { user }), h('p', { class: 'muted' }, t('person.system')));
    const inGroup = view && view.room.kind !== 'direct';
    const withThem = view?.room.kind === 'direct' && view.other?.id === id;
    return h('div', { class: 'person stack' },
      h(PersonHead, { user }),
      inGroup && h(Standing, { view, user }),
      id !== state.me?.id && !withThem && h('div', { class: 'panel-acts' },
        h(Act, { icon: 'send', label: t('person.talk'), act: () => openDirect(id) }),
        h(Act, { icon: 'envelope', label: t('person.packet'), act: () => givePacket(view, id) })),
      id !== state.me?.id && state.contacts && h('div', { class: 'panel-acts' }, h(Block, { user })),
      id !== state.me?.id && h('div', { class: 'panel-acts' }, h(Report, {
        key: id, about: { user: id, ...((withThem || inGroup && memberOf(view, id)) && { room: view.room.id }) },
        question: t('report.askPerson', { name: user.name || id }),
      })),
      inGroup && isAbove(view, id) && h(Govern, { view, user, key: id }));
  }
}

/** Opens the form of a packet for a user: in the room where both are, if it takes packets, else in their own. */
async function givePacket(view, id) {
  const mayTake = view && view.room.kind !== 'direct' && takesPackets(view.room);
  if (mayTake) await findMember(view, id); // the sheet may not have found them yet
  if (!mayTake || !memberOf(view, id)) await openDirect(id);
  openSheet('compose', id);
}

function Block({ user }) {
  return state.contacts.blocked.some((other) => other.id === user.id)
    ? h(Act, { key: 'unblock', icon: 'check', label: t('person.unblock'), act: () => unblock(user) })
    : h(Act, {
      key: 'block', icon: 'close', kind: 'danger', label: t('person.block'), yes: t('person.block'),
      question: t('person.blockAsk', { name: user.name || user.id }), act: () => block(user),
    });
}

/** Picture, name, id. */
export function PersonHead({ user }) {
  const copyId = t('person.copyId', { id: user.id });
  return h('div', { class: 'person-head' },
    h(Avatar, { user, size: 'large' }),
    h('h3', { class: 'info-name' }, user.name || user.id),
    user.guest && marksGuests() && h('p', { class: 'muted small' }, t('person.guest')),
    state.online.get(user.id) && h('p', { class: 'muted small' }, t('room.online')),
    h('button', {
      class: 'button quiet small person-id', type: 'button', 'aria-label': copyId, title: copyId, onClick: () => copy(user.id),
    }, h('span', { class: 'cut' }, user.id), h(Icon, { name: 'copy', size: 16 })),
    user.id === state.me?.id && h('p', { class: 'muted small' }, t('person.yours')));
}

/** The user's role in the room. */
function Standing({ view, user }) {
  const member = memberOf(view, user.id);
  if (!view.members.loaded) return null;
  if (!member && !view.members.complete) return null;
  return h('p', { class: 'standing' },
    !member ? h('span', { class: 'panel-mark' }, t('person.out', { room: view.room.name }))
      : h(Fragment, null,
        h('span', { class: `panel-mark ${member.role}` }, t(`info.role.${member.role}`)),
        isMuted(member) && h('span', { class: 'panel-mark' }, t('person.muted', { until: untilTime(member.muted_until ?? 0) }))));
}
