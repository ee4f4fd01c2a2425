// Small parts that many views use.
import { h } from '../dom.js';
import { state, change } from '../state.js';
import { fullTime } from '../format.js';
import { tint } from './tint.js';
import { inWords, t } from '../words.js';
import { Icon } from './icon.js';

/** Pictures that could not be loaded: those of old messages may be deleted. @type {Set<string>} */
const missing = new Set();

/** A user's picture, or the first letter of the name. */
export function Avatar({ user, size = '' }) {
  const name = user?.name || user?.id || '?';
  const online = user && user.id !== state.me?.id && state.online.get(user.id);
  return h('span', { class: `avatar ${size} tint-${tint(user?.id ?? '')}`, 'aria-hidden': 'true' },
    user?.avatar && safePicture(user.avatar) && !missing.has(user.avatar)
      ? h('img', { src: user.avatar, alt: '', loading: 'lazy', referrerPolicy: 'no-referrer', onError: () => change(() => missing.add(user.avatar)) })
      : [...name.trim()][0]?.toLocaleUpperCase() ?? '?',
    online && h('i', { class: 'online' }));
}

/** Only pictures of this server are loaded: the content security policy allows no others. */
function safePicture(url) {
  try { return new URL(url, location.href).origin === location.origin; } catch { return false; }
}

/** An icon button with a tooltip. @param {any} props what a button has, and icon, label, size */
export function IconButton({ icon, label, size, ...rest }) {
  return h('button', { class: 'button quiet icon', type: 'button', 'aria-label': label, title: label, ...rest },
    h(Icon, { name: icon, size }));
}

/** A time with its full date as a tooltip. */
export function Time({ at, children }) {
  return h('time', { dateTime: new Date(at).toISOString(), title: fullTime(at) }, children);
}

/** A failed load, with a button to try again. */
export function Failed({ error, again }) {
  return h('div', { class: 'empty', role: 'alert' },
    h('p', null, inWords(error)),
    again && h('button', { class: 'button', type: 'button', onClick: again }, t('again')));
}

export function Loading() {
  return h('div', { class: 'empty' }, h('span', { class: 'spinner', role: 'status', 'aria-label': t('loading') }));
}
