import { h } from '../dom.js';

export function Settings() { return h('div', null); }
