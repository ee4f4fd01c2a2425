import { h } from '../dom.js';

export function RoomInfo() { return h('div', null); }
