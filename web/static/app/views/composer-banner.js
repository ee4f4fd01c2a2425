// Above the field: what one answers, or changes.
import { h } from '../dom.js';
import { t } from '../words.js';
import { find } from '../model/timeline.js';
import { brief } from './line-text.js';
import { Icon } from './icon.js';

export function Banner({ view, draft, onCancel }) {
  const seq = draft.editing ?? draft.replyTo;
  if (seq === null) return null;
  const item = view.timeline.items[find(view.timeline, seq)] ?? view.timeline.quotes.get(seq);
  return h('div', { class: 'banner' },
    h(Icon, { name: draft.editing === null ? 'reply' : 'edit', size: 20 }),
    h('p', { class: 'grow' },
      h('b', { class: 'cut small', dir: 'auto' }, draft.editing === null ? t('composer.replying', { name: item?.from.name ?? t('timeline.somebody') }) : t('composer.editing')),
      item && h('span', { class: 'cut small muted', dir: 'auto' }, brief(item))),
    h('button', { class: 'button quiet icon', type: 'button', 'aria-label': t('cancel'), title: t('cancel'), onClick: onCancel }, h(Icon, { name: 'close', size: 20 })));
}
