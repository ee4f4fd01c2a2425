// The commands of an owner or admin about a user: role, mute, removal and return.
import { h, Component, Fragment } from '../dom.js';
import { t } from '../words.js';
import { isMuted, memberOf } from '../model/members.js';
import { mayInvite } from '../model/rooms.js';
import { invite, letBack, mute, putOut, setRole } from '../actions/governing.js';
import { Act } from './act.js';
import { Icon } from './icon.js';

const lengths = [['minutes', 600], ['hour', 3600], ['day', 86_400], ['ever', Number.MAX_SAFE_INTEGER]];

export function Govern({ view, user }) {
  const member = memberOf(view, user.id);
  const out = !member && view.members.complete;
  return h('section', { class: 'stack', 'aria-label': t('person.govern') },
    h('h3', null, t('person.govern')),
    h('div', { class: 'panel-acts' },
      member && view.room.role === 'owner' && h(Roles, { view, user, member }),
      h(Mutes, { view, user, member }),
      out ? h(OutOfRoom, { view, user }) : h(PutOut, { view, user })));
}

function Roles({ view, user, member }) {
  const name = user.name || user.id;
  return h(Fragment, null,
    member.role === 'member'
      ? h(Act, { key: 'admin', icon: 'people', label: t('person.makeAdmin'), act: () => setRole(view, user.id, 'admin') })
      : h(Act, { key: 'member', icon: 'people', label: t('person.makeMember'), act: () => setRole(view, user.id, 'member') }),
    h(Act, {
      key: 'owner', icon: 'crown', label: t('person.handOver'), question: t('person.handOverAsk', { name }), yes: t('person.handOverYes'),
      act: () => setRole(view, user.id, 'owner'),
    }));
}

/** A mute outlives leaving, and the page cannot know whether a former member is muted: both commands are offered then. */
class Mutes extends Component {
  state = { open: false };

  render({ view, user, member }, { open }) {
    const muted = isMuted(member);
    return h(Fragment, null,
      (muted || !member) && h(Act, { key: 'lift', icon: 'check', label: t('person.unmute'), act: () => mute(view, user.id, 0) }),
      !muted && h('div', { class: 'panel-act', key: 'mute' },
        h('button', { class: 'act-button', type: 'button', 'aria-expanded': open, onClick: () => this.setState({ open: !open }) },
          h(Icon, { name: 'clock', size: 20 }), h('span', { class: 'grow' }, t('person.mute')), h(Icon, { name: 'down', size: 16 })),
        open && h('div', { class: 'act-choices' }, lengths.map(([name, seconds]) => h(Act, {
          key: name, label: t(`person.muteFor.${name}`), act: async () => {
            await mute(view, user.id, /** @type {number} */ (seconds));
            this.setState({ open: false });
          },
        })))));
  }
}

function PutOut({ view, user }) {
  const name = user.name || user.id;
  return h(Fragment, null,
    h(Act, {
      key: 'remove', icon: 'close', kind: 'danger', label: t('person.remove'), yes: t('person.removeYes'),
      question: t(view.room.kind === 'public' ? 'person.removeAsk.public' : 'person.removeAsk.private', { name }),
      act: () => putOut(view, user.id, false),
    }),
    h(Ban, { view, user }));
}

function Ban({ view, user }) {
  return h(Act, {
    icon: 'lock', kind: 'danger', label: t('person.ban'), yes: t('person.banYes'),
    question: t('person.banAsk', { name: user.name || user.id }),
    act: () => putOut(view, user.id, true),
  });
}

/** The page cannot know whether a user is banned: both commands are offered. */
function OutOfRoom({ view, user }) {
  return h(Fragment, null,
    mayInvite(view) && h(Act, { key: 'invite', icon: 'plus', label: t('person.invite'), act: () => invite(view, [user.id]) }),
    h(Act, { key: 'unban', icon: 'check', label: t('person.unban'), act: () => letBack(view, user.id) }),
    h(Ban, { view, user }));
}
