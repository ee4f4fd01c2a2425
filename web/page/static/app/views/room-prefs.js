// What the user has decided about a room: no alerts, at the top, out of the list.
import { h } from '../dom.js';
import { t } from '../words.js';
import { startOfDay, untilTime } from '../format.js';
import { isSilent } from '../model/rooms.js';
import { changePrefs } from '../actions/prefs.js';

const morning = 8; // o'clock, when a silence until tomorrow ends
const leastNight = 4 * 3_600_000; // ms that it lasts at least

/** For how many seconds a room is silent; ever: without an end. @type {Record<string, () => number>} */
const silences = { hour: () => 3600, hours: () => 8 * 3600, tomorrow: () => untilTomorrow(), ever: () => 0 };

/** Until the next morning that is some hours away: at night, that is the morning of the same day. @param {number} [now] */
export function untilTomorrow(now = Date.now()) {
  const end = new Date(startOfDay(now));
  end.setHours(morning);
  if (end.getTime() - now < leastNight) end.setDate(end.getDate() + 1);
  return Math.ceil((end.getTime() - now) / 1000);
}

export function RoomPrefs({ view }) {
  const silent = isSilent(view);
  const toggle = (name, checked, means) => h('label', { class: 'switch', key: name },
    h('span', { class: 'grow' }, t(`prefs.${name}`), h('span', { class: 'muted small' }, means)),
    h('input', { type: 'checkbox', role: 'switch', checked, onChange: (e) => changePrefs(view, { [name]: e.target.checked }) }));
  const until = silent && view.prefs.silent_until ? t('prefs.until', { until: untilTime(view.prefs.silent_until) }) : t('prefs.silentMeans');
  return h('section', { class: 'stack', 'aria-label': t('prefs.title') },
    toggle('silent', silent, until),
    silent && h('div', { class: 'silences', role: 'group', 'aria-label': t('prefs.how') }, Object.keys(silences).map((name) => h('button', {
      key: name, class: 'button small', type: 'button', 'aria-pressed': name === 'ever' && !view.prefs.silent_until,
      onClick: () => changePrefs(view, { silent: true, silent_s: silences[name]() }),
    }, t(`prefs.silences.${name}`)))),
    toggle('pinned', view.prefs.pinned, t('prefs.pinnedMeans')), toggle('archived', view.prefs.archived, t('prefs.archivedMeans')));
}
