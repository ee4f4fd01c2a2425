// The pictures that the page draws: the animals of the zodiac, in their order.
import { h } from '../dom.js';
import { t } from '../words.js';
import { Avatar } from './parts.js';

const animals = ['rat', 'ox', 'tiger', 'rabbit', 'dragon', 'snake', 'horse', 'goat', 'monkey', 'rooster', 'dog', 'pig'];

/** A picture as a radio button. Props: value; label; chosen; choose; user, whose letter stands for no picture; face, if it is another one. */
export function Pick({ value, label, chosen, choose, user, face }) {
  return h('label', { title: label },
    h('input', { class: 'only-read', type: 'radio', name: 'avatar', checked: chosen === value, onChange: () => choose(value) }),
    face ?? h(Avatar, { user: { ...user, avatar: value }, size: 'large' }), h('span', { class: 'only-read' }, label));
}

/** All of them. Props: those of Pick but value, label and face. */
export function Animals(props) {
  return animals.map((animal, n) => h(Pick, { key: animal, value: `avatars/${n + 1}.svg`, label: t(`profile.${animal}`), ...props }));
}
