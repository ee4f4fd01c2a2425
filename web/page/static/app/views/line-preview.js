// What the host says of a link in a message: a quiet card below the text. Nothing is loaded from the address.
import { h } from '../dom.js';
import { real } from './line-text.js';

/** Props: preview, as in the body of a text. The host of the address stands first, because the title may name another one. */
export function LinkCard({ preview: { url, title, text } }) {
  const address = real(url);
  if (!address) return null;
  return h('a', { class: 'preview', href: address, target: '_blank', rel: 'noopener noreferrer' },
    h('span', { class: 'preview-host cut', dir: 'ltr' }, new URL(address).host),
    h('b', { class: 'preview-title', dir: 'auto' }, title),
    text && h('span', { class: 'preview-text', dir: 'auto' }, text));
}
