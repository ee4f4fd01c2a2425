// Keys that work everywhere on the page: they switch rooms, and show all keys.
import { change, currentRoom, state } from '../state.js';
import { keep, kept } from '../storage.js';
import { go, openSheet } from '../route.js';
import { listedRooms } from '../model/rooms.js';

/** Whether the key that browsers and systems use for commands is held, alone: Ctrl, or Cmd on a Mac. @param {KeyboardEvent} e */
export function isCommand({ ctrlKey, metaKey, altKey, shiftKey }) {
  return !altKey && !shiftKey && metaKey === isMac && ctrlKey === !isMac;
}

export const isMac = /^(Mac|iP)/.test(navigator.platform);

/** Follows the keys. The result ends that. @returns {() => void} */
export function followKeys() {
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

const steps = { ArrowUp: -1, ArrowDown: 1 };

/** A dialog keeps its keys for itself. @param {KeyboardEvent} e */
function pressed(e) {
  if (e.defaultPrevented || e.isComposing || document.querySelector('dialog[open]')) return;
  const step = e.altKey && !e.ctrlKey && !e.metaKey && !e.shiftKey && steps[e.key];
  const isDone = step ? isFree(e.target) && stepRoom(step) : e.key.toLowerCase() === 'k' && isCommand(e) ? toRooms() : e.key === '?' && !isField(e.target) && hasKeyOfList() && showKeys();
  if (isDone) e.preventDefault();
}

/** Opens the room above or below the open one, if there is one. @param {number} step */
function stepRoom(step) {
  const rooms = listedRooms().filter((view) => !view.prefs.archived || view === currentRoom());
  const at = rooms.findIndex((view) => view === currentRoom());
  const next = rooms[at < 0 ? 0 : at + step];
  if (next) go({ room: next.room.id });
  return Boolean(next);
}

/** Moves the focus to the field that finds rooms. On a phone the list must be the page. */
function toRooms() {
  if (!state.wide && state.route.room) go({ room: null });
  queueMicrotask(() => requestAnimationFrame(focusSearch));
  return true;
}

function focusSearch() {
  const field = /** @type {HTMLInputElement|null} */ (document.querySelector('.rooms-search input'));
  field?.focus();
  field?.select();
}

function showKeys() {
  openSheet('keys');
  return true;
}

const keyOfList = 'hongbao-key-of-list';

/** Whether `?` lists all keys: a user of a speech input may have switched it off. */
export function hasKeyOfList() { return kept(keyOfList) !== 'off'; }

/** @param {boolean} on */
export function setKeyOfList(on) { change(() => keep(keyOfList, on ? null : 'off')); }

/** Whether arrows do nothing there: in an empty composer, and outside of fields. @param {any} element */
function isFree(element) { return !isField(element) || element.matches('.composer textarea') && !element.value; }

/** Whether keys are text there. @param {any} element */
function isField(element) { return element.matches?.('input, textarea, select, [contenteditable]') ?? false; }
