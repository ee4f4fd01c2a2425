import { h } from '../dom.js';

export function PacketSheet() { return h('div', null); }
