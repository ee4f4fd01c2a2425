// The drawings on envelopes: those of the page, two of them offered in their season, and those of the host.
import { state } from '../state.js';

const always = ['cloud', 'koi', 'plum'];
/** Those of a season, with their first and last day in the Chinese calendar, as month * 100 + day. @type {Record<string, [number, number][]>} */
const seasons = { lantern: [[1216, 1230], [101, 115]], moon: [[801, 816]] };

/** The style of an element with a skin; a skin that is unknown here looks plain. @param {string|undefined} skin @param {string} element its own class */
export function skinned(skin, element) {
  if (!skin) return { class: element };
  if (isOwnSkin(skin)) return { class: `${element} skin-${skin}` };
  const ofHost = hosts().find(({ name }) => name === skin);
  return ofHost ? { class: `${element} skin-host`, style: { '--skin': `url("${new URL(ofHost.url, location.href)}")` } } : { class: element };
}

/** Whether the page brings the drawing. @param {string} skin '' is the plain envelope */
export function isOwnSkin(skin) { return !skin || always.includes(skin) || Object.hasOwn(seasons, skin); }

/** The skins that the form offers on a day, the plain envelope first. @param {Date} day */
export function offeredSkins(day) {
  const date = lunar(day);
  const now = Object.keys(seasons).filter((name) => seasons[name].some(([first, last]) => first <= date && date <= last));
  return ['', ...now, ...always, ...hosts().map(({ name }) => name)];
}

/** @returns {{name: string, url: string}[]} */
function hosts() { return state.page?.skins ?? []; }

/** The day in the Chinese calendar, as month * 100 + day; 0 where the browser does not know that calendar, and in a leap month. @param {Date} day */
function lunar(day) {
  const format = new Intl.DateTimeFormat('en-u-ca-chinese', { month: 'numeric', day: 'numeric' });
  if (format.resolvedOptions().calendar !== 'chinese') return 0;
  const parts = Object.fromEntries(format.formatToParts(day).map(({ type, value }) => [type, Number(value)]));
  return parts.month * 100 + parts.day || 0;
}
