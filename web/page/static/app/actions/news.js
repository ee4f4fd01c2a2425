// Tells the user of news.
import { state, currentRoom } from '../state.js';
import { newsOf, showBanner } from '../model/news.js';
import { notify } from '../notifications.js';
import { sound } from '../sound.js';

const soundPace = 2000; // ms

let soundAt = -Infinity;

/** Tells the user of a new entry: by a banner, or on a hidden page by a notification; by a sound in both cases. @param {import('../state.js').RoomView} view @param {any} e */
export function tellNews(view, e) {
  const hidden = document.visibilityState === 'hidden';
  const news = hidden || view !== currentRoom() ? newsOf(view, e) : null;
  if (!news) return;
  if (state.sound && performance.now() - soundAt > soundPace) {
    soundAt = performance.now();
    sound(news.why === 'packet' ? 'packet' : 'message');
  }
  if (hidden) notify(news);
  else showBanner(news);
}
