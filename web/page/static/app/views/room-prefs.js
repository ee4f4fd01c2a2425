// What the user has decided about a room: no alerts, at the top, out of the list.
import { h } from '../dom.js';
import { t } from '../words.js';
import { changePrefs } from '../actions/prefs.js';

export function RoomPrefs({ view }) {
  const toggle = (/** @type {'silent'|'pinned'|'archived'} */ name) => h('label', { class: 'switch', key: name },
    h('span', { class: 'grow' }, t(`prefs.${name}`), h('span', { class: 'muted small' }, t(`prefs.${name}Means`))),
    h('input', {
      type: 'checkbox', role: 'switch', checked: view.prefs[name], onChange: (e) => changePrefs(view, { [name]: e.target.checked }),
    }));
  return h('section', { class: 'stack', 'aria-label': t('prefs.title') }, toggle('silent'), toggle('pinned'), toggle('archived'));
}
