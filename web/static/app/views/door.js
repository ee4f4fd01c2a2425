import { h } from '../dom.js';
import { enterAsGuest } from '../session.js';

export function Door() {
  return h('form', { onSubmit: (e) => { e.preventDefault(); enterAsGuest(e.target.elements.name.value); } }, h('input', { name: 'name' }), h('button', null, 'in'));
}
export function Ended() { return h('div', null, 'ended'); }
