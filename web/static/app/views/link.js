// The thin bar that tells how the connection stands, when it does not just work.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';

export function LinkBar() {
  const { link } = state;
  if (link.state === 'connected') return null;
  const offline = !navigator.onLine;
  return h('p', { class: `link ${offline ? 'bad' : ''}`, role: 'status' }, t(offline ? 'link.offline' : link.again ? 'link.again' : 'link.connecting'));
}
