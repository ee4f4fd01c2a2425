// Suggestions after '@': members whose name matches. The arrow keys move through them while the caret stays in the
// field. Owners and admins are offered all members, too.
import { h } from '../dom.js';
import { state } from '../state.js';
import { holds } from '../matching.js';
import { t } from '../words.js';
import { isSystemUser } from '../model/members.js';
import { allNames, mayMentionAll } from '../model/mentions.js';
import { renewMembers } from '../actions/governing.js';
import { Icon } from './icon.js';
import { Avatar } from './parts.js';

const most = 6;
const lookBack = 300; // rows
const after = /(^|[\s,。,!?、:;(（])@([^\s@]{0,32})$/u;

/** Examines the text before the caret, for a composer. */
export class Suggesting {
  /** @param {import('./composer.js').Composer} composer */
  constructor(composer) { this.composer = composer; }

  get open() { return this.composer.state.mention; }

  look() {
    const field = this.composer.field.current;
    const match = field.selectionStart === field.selectionEnd && after.exec(field.value.slice(0, field.selectionStart));
    if (!match) return this.close();
    const { view } = this.composer.props;
    if (!view.members.loaded && !view.members.loading) this.learn(view);
    const users = matching(view, match[2]);
    this.composer.setState({ mention: users.length ? { users, at: 0, from: field.selectionStart - match[2].length - 1 } : null });
  }

  /** Searches again when the members are loaded. If that fails, only recent senders are suggested. */
  async learn(view) {
    await renewMembers(view);
    if (view.members.loaded && this.composer.field.current) this.look();
  }

  close() { if (this.open) this.composer.setState({ mention: null }); }

  /** @param {KeyboardEvent} e @returns {boolean} the whether the key was for the list */
  key(e) {
    const { open } = this;
    if (!open) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) this.composer.setState({ mention: { ...open, at: (open.at + step + open.users.length) % open.users.length } });
    else if ((e.key === 'Enter' && !e.shiftKey) || e.key === 'Tab') this.pick(open.users[open.at]);
    else if (e.key === 'Escape') this.close();
    else return false;
    e.preventDefault();
    return true;
  }

  /** @param {import('../state.js').User} user */
  pick(user) {
    const { composer, open } = this;
    const { draft } = composer.props.view;
    composer.insert(`@${user.name} `, open.from);
    if (user.id) composer.set({ mentions: { ...draft.mentions, [user.name]: user.id } });
    this.close();
  }

  aria() {
    const { open } = this;
    const list = open ? { 'aria-controls': 'mentions', 'aria-activedescendant': `mention-${open.at}` } : {};
    return { 'aria-autocomplete': 'list', ...list };
  }
}

/** All members have an empty id and stand above, then recent senders. @param {import('../state.js').RoomView} view @param {string} begun */
function matching(view, begun) {
  const users = new Map();
  if (view.draft.editing === null && mayMentionAll(view) && allNames.some((name) => holds(name, begun))) users.set('', { id: '', name: t('composer.all') });
  const spoken = view.timeline.items.slice(-lookBack).reverse().map(({ from }) => state.people.get(from.id) ?? from);
  for (const user of [...spoken, ...view.members.items.map((m) => m.user)]) {
    if (users.size === most) break;
    if (user.name && user.id !== state.me.id && !isSystemUser(user.id) && !users.has(user.id) && holds(user.name, begun)) users.set(user.id, user);
  }
  return [...users.values()];
}

export function Suggestions({ users, at, onPick }) {
  return h('ul', { class: 'suggestions', id: 'mentions', role: 'listbox', 'aria-label': t('composer.mentions') },
    users.map((user, n) => h('li', {
      key: user.id, id: `mention-${n}`, role: 'option', 'aria-selected': n === at,
      onPointerDown: (e) => { e.preventDefault(); onPick(user); }, // before the field loses the focus
    }, user.id ? h(Avatar, { user, size: 'small' }) : h('span', { class: 'avatar small' }, h(Icon, { name: 'people', size: 18 })),
    h('span', { class: 'cut', dir: 'auto' }, user.name), !user.id && h('span', { class: 'muted small cut' }, t('composer.allMeans')))));
}
