import { h } from '../dom.js';

export function TimelineView() { return h('div', null); }
