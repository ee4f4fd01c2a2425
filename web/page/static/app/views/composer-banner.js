// The banner above the message field: the message that the user replies to or edits.
import { h } from '../dom.js';
import { t } from '../words.js';
import { find } from '../model/timeline.js';
import { gist } from './line-text.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';

export function Banner({ view, draft, onCancel }) {
  const seq = draft.editing ?? draft.replyTo;
  if (seq === null) return null;
  const editing = draft.editing !== null;
  const item = view.timeline.items[find(view.timeline, seq)] ?? view.timeline.quotes.get(seq);
  return h('div', { class: 'banner' },
    h(Icon, { name: editing ? 'edit' : 'reply', size: 20 }),
    h('p', { class: 'grow' },
      h('b', { class: 'cut small', dir: 'auto' }, editing ? t('composer.editing')
        : t('composer.replying', { name: item?.from.name ?? t('timeline.somebody') })),
      item && h('span', { class: 'cut small muted', dir: 'auto' }, gist(item))),
    h(IconButton, { icon: 'close', label: t('cancel'), size: 20, onClick: onCancel }));
}
