import { h } from '../dom.js';

export function Envelope() { return h('div', null); }
