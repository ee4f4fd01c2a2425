import { h } from '../dom.js';

export function PersonSheet() { return h('div', null); }
