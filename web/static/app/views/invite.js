import { h } from '../dom.js';

export function Invite() { return h('div', null); }
