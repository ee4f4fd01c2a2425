// The bar over a message on a desktop: the most used commands, without a sheet. It is drawn only while the pointer or the focus is there.
import { h } from '../dom.js';
import { change } from '../state.js';
import { t } from '../words.js';
import { keepDraft } from '../model/kept.js';
import { react } from '../actions/messages.js';
import { quick } from './composer-emoji.js';
import { IconButton } from './parts.js';

const shown = 3; // emojis

/** Props: item, view. */
export function Bar({ item, view }) {
  const muted = (view.mute?.until ?? 0) > Date.now();
  if (muted) return null;
  const reply = () => {
    change(() => { view.draft = { ...view.draft, replyTo: item.seq, editing: null }; });
    keepDraft(view.room.id, view.draft);
  };
  return h('div', { class: 'line-bar' },
    item.kind === 'text' && quick.slice(0, shown).map((emoji) => h('button', {
      key: emoji, class: 'bar-emoji', type: 'button', 'aria-label': t('message.reactWith', { emoji }), 'aria-pressed': !!item.mine?.has(emoji),
      onClick: () => react(view, item.seq, emoji, !item.mine?.has(emoji)),
    }, emoji)),
    h(IconButton, { icon: 'reply', label: t('message.reply'), size: 18, class: 'bar-button', onClick: reply }));
}
