// The document's title: the number of unread messages.
import { state } from './state.js';

let shown = '';

/** Called when the page is drawn. */
export function showTitle() {
  let unread = 0;
  for (const view of state.rooms.values()) unread += view.unread;
  const title = unread ? `(${unread > 999 ? '999+' : unread}) hongbao` : 'hongbao';
  if (title !== shown) document.title = shown = title;
}
