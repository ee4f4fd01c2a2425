// Sheet and Panel: the two frames for what lies over or beside a room. Escape, the button and the browser's back button close them.
import { h, Component, createRef } from '../dom.js';
import { closeSheet } from '../route.js';
import { t } from '../words.js';
import { Icon } from './icon.js';

export class Sheet extends Component {
  dialog = createRef();

  componentDidMount() { this.dialog.current.showModal(); }

  componentWillUnmount() { this.dialog.current?.close(); }

  render({ title, children }) {
    return h('dialog', {
      class: 'sheet', ref: this.dialog, 'aria-label': title,
      onCancel: (e) => { e.preventDefault(); closeSheet(); },
      onClick: (e) => { if (e.target === this.dialog.current) closeSheet(); },
    }, h(Head, { title }), h('div', { class: 'sheet-body' }, children));
  }
}

export function Panel({ title, children }) {
  return h('section', {
    class: 'panel', 'aria-label': title,
    onKeyDown: (e) => { if (e.key === 'Escape') closeSheet(); },
  }, h(Head, { title }), h('div', { class: 'sheet-body' }, children));
}

function Head({ title }) {
  return h('header', { class: 'bar' },
    h('h2', { class: 'grow cut' }, title),
    h('button', { class: 'button quiet icon', type: 'button', 'aria-label': t('close'), title: t('close'), onClick: closeSheet }, h(Icon, { name: 'close' })));
}
