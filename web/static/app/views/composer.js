import { h } from '../dom.js';

export function Composer() { return h('div', null); }
