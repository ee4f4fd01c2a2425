import { h } from '../dom.js';

export function FindRooms() { return h('div', null); }
