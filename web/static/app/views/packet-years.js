import { h } from '../dom.js';

export function PacketYears() { return h('div', null); }
