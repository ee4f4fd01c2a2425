// All sheets, by their name in the address. modal: a dialog on a wide screen, too (or a function of the id); otherwise
// a panel beside the room there. needsRoom: it is shown only over a room. ofRoom: if the address has a room, it is shown
// only when the user has joined that. kind: a class of the dialog, by the id. beside: the element that the dialog stands at on a wide screen. stays: another id does not make it another sheet. A sheet's code is
// loaded in the background while the page is in use.
import { change } from '../state.js';
import { t } from '../words.js';
import { isSealed, isUnknown } from '../model/packets.js';
import { nameOf } from '../model/rooms.js';

const sheets = {
  'new-room': { load: async () => (await import('./new-room.js')).NewRoom, modal: true, title: () => t('newRoom.title') },
  find: { load: async () => (await import('./find-rooms.js')).FindRooms, modal: true, title: () => t('find.title') },
  direct: { load: async () => (await import('./direct.js')).Direct, modal: true, title: () => t('direct.title') },
  settings: { load: async () => (await import('./settings.js')).Settings, modal: true, title: () => t('settings.title') },
  keys: { load: async () => (await import('./key-list.js')).KeyList, modal: true, title: () => t('keys.title') },
  compose: { load: async () => (await import('./compose.js')).Compose, modal: true, needsRoom: true, title: () => t('compose.title') },
  packet: {
    load: async () => (await import('./packet.js')).PacketSheet, modal: isSealed, ofRoom: true, title: () => t('packet.title'), // id: packet
    kind: (id) => (isSealed(id) || isUnknown(id) ? 'of-envelope' : ''), // a link mostly leads to a packet that is to be opened
  },
  wallet: { load: async () => (await import('./wallet.js')).Wallet, title: () => t('wallet.title') },
  packets: { load: async () => (await import('./packet-years.js')).PacketYears, title: () => t('years.title') },
  info: {
    load: async () => (await import('./room-info.js')).RoomInfo, needsRoom: true,
    title: (room) => t(room.room.kind === 'direct' ? 'info.titleDirect' : 'info.title'),
  },
  media: { load: async () => (await import('./media.js')).Media, needsRoom: true, title: () => t('media.title') },
  'room-packets': { load: async () => (await import('./room-packets.js')).RoomPackets, needsRoom: true, title: () => t('roomPackets.title') },
  view: { // id: seq.file
    load: async () => (await import('./viewer.js')).Viewer, modal: true, needsRoom: true, stays: true, kind: () => 'of-viewer', title: () => t('viewer.title'),
  },
  mentions: { load: async () => (await import('./mentions.js')).Mentions, title: () => t('mentions.title') },
  rules: { load: async () => (await import('./rules.js')).Rules, needsRoom: true, title: () => t('rules.title') },
  reports: { load: async () => (await import('./reports.js')).Reports, title: () => t('reports.title') },
  search: { load: async () => (await import('./search.js')).SearchAll, title: () => t('search.title') },
  'search-room': {
    load: async () => (await import('./search.js')).SearchRoom, needsRoom: true, title: (room) => t('search.in', { room: nameOf(room) }),
  },
  invite: { load: async () => (await import('./invite.js')).Invite, modal: true, needsRoom: true, title: () => t('invite.title') },
  links: { load: async () => (await import('./links.js')).Links, modal: true, needsRoom: true, title: () => t('links.title') }, // id: packet
  person: { load: async () => (await import('./person.js')).PersonSheet, title: () => t('person.title') }, // id: user
  message: { // id: seq
    load: async () => (await import('./message-sheet.js')).MessageSheet, modal: true, needsRoom: true, kind: () => 'of-message', title: () => t('message.title'),
    beside: (seq) => document.querySelector(`.line[data-seq="${Number(seq)}"] .said-row > :first-child`),
  },
};

/** The row of a sheet, if the name exists: the address may come from anywhere. @param {string} name */
export function sheetOf(name) { return Object.hasOwn(sheets, name) ? sheets[name] : undefined; }

/** @type {Map<string, {view?: any, failed?: unknown}>} */
const loaded = new Map();

/** The content of a sheet: its view once it is loaded, or the error. @param {string} name */
export function contents(name) {
  if (!loaded.has(name)) loadSheet(name);
  return loaded.get(name);
}

const tries = 6; // before an error is shown
const pause = 700; // ms after a failure

/** The styles that only sheets need: they are loaded with the first sheet. */
const styles = ['opening', 'packets', 'panels', 'viewer'];
/** @type {Map<string, Promise<void>>} */
const styling = new Map();

/** @param {string} name of a style @returns {Promise<void>} */
function style(name) {
  const begun = styling.get(name);
  if (begun) return begun;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL(`../../style/${name}.css`, import.meta.url).href;
  const done = new Promise((resolve, reject) => {
    link.onload = () => resolve(undefined);
    link.onerror = () => {
      link.remove();
      styling.delete(name);
      reject(new Error(link.href));
    };
  });
  styling.set(name, done);
  document.head.append(link);
  return done;
}

/** Loads the styles of sheets. */
export function styleSheets() { return Promise.all(styles.map(style)); }

/** @param {string} name */
export async function loadSheet(name) {
  loaded.set(name, {});
  for (let left = tries; left > 0 && !loaded.get(name)?.view; left--) {
    try {
      const [view] = await Promise.all([sheets[name].load(), styleSheets()]);
      loaded.set(name, { view });
    } catch (failed) {
      if (left === 1) loaded.set(name, { failed });
      else await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }
  change();
}

/** Loads the missing views while the browser is idle. */
export function loadSheets() {
  const soon = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ f) => setTimeout(f, 200));
  for (const name of Object.keys(sheets)) soon(() => contents(name));
}
