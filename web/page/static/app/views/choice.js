// A choice of a few options: radio buttons that look like one control.
import { h } from '../dom.js';
import { Icon } from './icon.js';

/**
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.name          of the group, unique on the page
 * @param {string} props.value
 * @param {{value: string, label: string, icon?: string, lang?: string}[]} props.options  with an icon, the label is for screen readers
 * @param {(value: any) => void} props.choose
 * @param {boolean} [props.bare]       the label is for screen readers
 */
export function Choice({ label, name, value, options, choose, bare }) {
  return h('fieldset', { class: 'choice' },
    h('legend', { class: bare ? 'only-read' : '' }, label),
    h('div', { class: 'choice-row' }, options.map((o) => h('label', { key: o.value, title: o.icon && o.label },
      h('input', { class: 'only-read', type: 'radio', name, value: o.value, checked: o.value === value, onChange: () => choose(o.value) }),
      h('span', { lang: o.lang }, o.icon ? [h(Icon, { name: o.icon, size: 18 }), h('span', { class: 'only-read' }, o.label)] : o.label)))));
}
