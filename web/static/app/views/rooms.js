import { h } from '../dom.js';

export function RoomList() { return h('div', null); }
