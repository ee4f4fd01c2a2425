// The sheet with the user's settings: account, language, colours, sound, sign-out.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { languages, setLanguage, t } from '../words.js';
import { playMoney } from '../format.js';
import { setTheme, themes } from '../theme.js';
import { setSound } from '../sound-choice.js';
import { canNotify, respeak, setNotifications } from '../notifications.js';
import { openSheet } from '../route.js';
import { signOut } from '../session.js';
import { shownBalance } from '../model/draws.js';
import { loadContacts, setContact } from '../actions/contacts.js';
import { copy } from '../actions/copy.js';
import { mayHavePicture } from '../actions/profile.js';
import { Avatar, IconButton } from './parts.js';
import { Choice } from './choice.js';
import { Icon } from './icon.js';
import { SecondGuest } from './second-guest.js';
import { DeviceLink } from './settings-device.js';
import { Profile } from './settings-profile.js';
import { hasKeyOfList, setKeyOfList } from './shortcuts.js';

const tongues = { zh: '中文', en: 'English' };

export function Settings() {
  return h('div', { class: 'stack settings' },
    h(Me, null),
    h(Choice, { label: t('settings.language'), name: 'language', value: state.lang, choose: (lang) => setLanguage(lang).then(respeak),
      options: languages.map((lang) => ({ value: lang, label: tongues[lang], lang })) }),
    h(Choice, { label: t('settings.theme'), name: 'theme', value: state.theme, choose: setTheme,
      options: themes.map((value) => ({ value, label: t(`settings.${value}`) })) }),
    h('label', { class: 'switch' },
      h('span', { class: 'grow' }, t('settings.sound'), h('span', { class: 'muted small' }, t('settings.soundMeans'))),
      h('input', { type: 'checkbox', role: 'switch', checked: state.sound, onChange: (e) => setSound(e.target.checked) })),
    state.wide && h('label', { class: 'switch' },
      h('span', { class: 'grow' }, t('settings.keys'), h('span', { class: 'muted small' }, t('settings.keysMean'))),
      h('input', { type: 'checkbox', role: 'switch', checked: hasKeyOfList(), onChange: (e) => setKeyOfList(e.target.checked) })),
    canNotify() && h(NotifySetting, null),
    h(ContactSetting, null),
    state.by === 'guest' && h(DeviceLink, null),
    h(SecondGuest, null),
    state.wide && h('button', { class: 'button wide', type: 'button', onClick: () => openSheet('keys') }, h(Icon, { name: 'keyboard', size: 20 }), t('keys.title')),
    h('button', { class: 'button wide', type: 'button', onClick: () => openSheet('reports') }, h(Icon, { name: 'flag', size: 20 }), t('reports.title')),
    h(Leave, null));
}

/** Guests choose their name and picture here. The host names its users, and they may have a picture unless the host says one. */
class Me extends Component {
  state = { editing: false };

  render(_, { editing }) {
    const { me } = state;
    const edit = (is) => this.setState({ editing: is });
    if (editing) return h(Profile, { done: () => edit(false) });
    return h('div', { class: 'settings-me' },
      h('div', { class: 'row' },
        h(Avatar, { user: me, size: 'large' }), h('h3', { class: 'cut grow', dir: 'auto' }, me.name || me.id),
        (state.by === 'guest' || mayHavePicture()) && h(IconButton, { icon: 'edit', label: t(state.by === 'guest' ? 'profile.title' : 'profile.pictureTitle'), onClick: () => edit(true) })),
      h('div', { class: 'row' },
        h('p', { class: 'grow' }, h('span', { class: 'muted small' }, t('settings.id')), h('code', { class: 'settings-id' }, me.id)),
        h(IconButton, { icon: 'copy', label: t('settings.copyId'), onClick: () => copy(me.id) })));
  }
}

/** The browser asks the user for the permission when this is switched on. */
class NotifySetting extends Component {
  state = { refused: false };

  async set(e) {
    const { checked } = e.target;
    const allowed = await setNotifications(checked);
    e.target.checked = state.notify;
    this.setState({ refused: !allowed });
  }

  render(_, { refused }) {
    return h('label', { class: 'switch' },
      h('span', { class: 'grow' }, t('settings.notify'), refused ? h('span', { class: 'problem', role: 'alert' }, t('settings.notifyRefused'))
        : h('span', { class: 'muted small' }, t('settings.notifyMeans'), ' ', state.push && t(`settings.reach.${state.push}`))),
      h('input', { type: 'checkbox', role: 'switch', checked: state.notify, onChange: (e) => this.set(e) }));
  }
}

class ContactSetting extends Component {
  componentDidMount() { loadContacts(); }

  render() {
    return state.contacts && h(Choice, { label: t('settings.contact'), name: 'contact', value: state.contacts.contact, choose: setContact,
      options: ['everyone', 'shared', 'nobody'].map((value) => ({ value, label: t(`settings.${value}`) })) });
  }
}

/** A guest cannot come back after signing out, so the page asks first. Users of a host sign out there. */
class Leave extends Component {
  state = { isSure: state.by !== 'guest', asked: false };

  render(_, { isSure, asked }) {
    if (state.by === 'host') return h('p', { class: 'muted small' }, t('settings.byHost'));
    if (!asked || isSure) {
      const leave = () => (isSure ? signOut() : this.setState({ asked: true }));
      return h('button', { class: 'button wide danger', type: 'button', onClick: leave },
        h(Icon, { name: 'out', size: 20 }), t('settings.signOut'));
    }
    return h('div', { class: 'stack leave', role: 'alert' },
      h('p', null, t('settings.guestWarning', { name: state.me.name, balance: playMoney(shownBalance()) })),
      h('div', { class: 'row' },
        h('button', { class: 'button grow', type: 'button', onClick: () => this.setState({ asked: false }) }, t('settings.stay')),
        h('button', { class: 'button danger grow', type: 'button', onClick: signOut }, t('settings.signOut'))));
  }
}
