import { h } from '../dom.js';

export function Wallet() { return h('div', null); }
