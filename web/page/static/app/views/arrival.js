// The first screen of a guest that comes from another device by a link.
import { h } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { arrive, stayHere } from '../session.js';
import { keptGuest } from '../identity.js';

export function Arrival() {
  const { error } = state.door;
  const has = keptGuest() !== null;
  return h('div', { class: 'stack' },
    h('h2', null, t('arrival.title')),
    h('p', { class: 'muted' }, t(has ? 'arrival.replaces' : 'arrival.means')),
    error && h('p', { class: 'problem', role: 'alert' }, arrivalWords(error)),
    h('button', { class: 'button primary wide', type: 'button', onClick: arrive }, t(error ? 'again' : 'arrival.take')),
    h('button', { class: 'button quiet', type: 'button', onClick: stayHere }, t(has ? 'arrival.stay' : 'arrival.new')));
}

function arrivalWords(error) {
  return error.word === 'unreachable' ? t('door.unreachable') : error.word === 'not_found' ? t('arrival.used') : inWords(error);
}
