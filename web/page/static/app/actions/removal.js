// Removes messages of other users. The server erases a removed text at once and for good, so the page waits before it asks for that: meanwhile the
// user can undo it.
import { state, change, toast } from '../state.js';
import { t } from '../words.js';
import { attempt } from './attempt.js';
import { recall } from './messages.js';

const wait = 5000; // ms

/** The removals that wait: each sends its removal now. @type {Map<string, () => void>} */
const waiting = new Map();

/** @param {import('../state.js').RoomView} view @param {import('../model/timeline.js').Item} item */
export function removeSoon(view, item) {
  const place = `${view.room.id}/${item.seq}`;
  if (waiting.has(place)) return;
  const end = () => {
    clearTimeout(timer);
    waiting.delete(place);
    gone();
  };
  const undo = () => {
    end();
    change(() => { state.announcement = t('message.undone'); });
  };
  const send = () => {
    end();
    attempt(recall(view, item));
  };
  const timer = setTimeout(send, wait);
  const gone = toast(t('message.removeSoon', { name: item.from.name || item.from.id }), { label: t('message.undo'), run: undo }, wait);
  waiting.set(place, send);
}

/** A page that is left may not come back. */
addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden' && state.me) for (const send of waiting.values()) send();
});
