import { h } from '../dom.js';

export function MessageSheet() { return h('div', null); }
