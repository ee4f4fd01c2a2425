import { h } from '../dom.js';

export function NewRoom() { return h('div', null); }
