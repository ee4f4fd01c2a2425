// A field with its label, a hint, and its error while the user types.
import { h } from '../dom.js';

export function Field({ name, label, value, problem, hint, onValue, ...rest }) {
  return h('div', { class: 'field' },
    h('label', { class: 'field-label', for: `compose-${name}` }, label),
    h('input', {
      class: 'input', id: `compose-${name}`, name, value, 'aria-invalid': Boolean(problem), 'aria-describedby': `compose-${name}-more`,
      autocomplete: 'off',
      onInput: (e) => onValue(e.target.value), ...rest,
    }),
    h('p', { class: problem ? 'problem' : 'muted small', id: `compose-${name}-more`, 'aria-live': 'polite' }, problem || hint));
}
