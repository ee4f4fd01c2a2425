// A rain in the details of its packet: the button while it rains, and what the user has won in which wave.
import { h } from '../dom.js';
import { t } from '../words.js';
import { money, number } from '../format.js';
import { grabWave } from '../actions/rain.js';
import { enteredWave, isRaining, openWave, winsOf } from '../model/rain.js';
import { isForMe } from '../model/packets.js';
import { said } from './rain.js';
import { plan, rainStanding } from './rain-words.js';

/** @param {{view: import('../state.js').PacketView}} props */
export function RainGrab({ view }) {
  if (!isRaining(view) || !isForMe(view.packet)) return null;
  const open = openWave(view);
  return h('div', { class: 'stack' },
    h('p', { role: 'status' }, said(view, open)),
    h('button', { class: 'button gold wide', type: 'button', 'aria-disabled': open <= enteredWave(view), 'aria-busy': view.grab === 'asking', onClick: () => grabWave(view) },
      t('rain.grab')));
}

export function Wins({ view }) {
  const wins = winsOf(view);
  if (!wins.length) return null;
  return h('section', { class: 'stack', 'aria-label': t('rain.wins') },
    h('ol', { class: 'rain-wins' }, wins.map(({ wave, amount }) => h('li', { key: wave },
      h('span', { class: 'grow' }, t('rain.winOf', { wave: number(wave) })), h('span', { class: 'number' }, money(amount))))));
}

/** The rules of a rain, or how it has ended. @param {import('../state.js').PacketView} view */
export function rainRules(view) {
  const { packet, state: s } = view;
  if (s.status !== 'open') return s.status === 'cancelled' ? '' : `${plan(packet)} · ${rainStanding(view)}`;
  const { waves = 0, max_wins: most = waves, count } = packet;
  const shares = t('envelope.shares', { count, shown: number(count) });
  return [plan(packet), shares, most < waves && t('rain.most', { count: most })].filter(Boolean).join(' · ');
}
