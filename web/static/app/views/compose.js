import { h } from '../dom.js';

export function Compose() { return h('div', null); }
