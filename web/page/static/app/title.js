// The number of unread messages outside of the page: in the title, on the icon of the tab, and on the icon of the installed page.
import { unreadNews } from './model/news.js';

let shown = -1;

const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="icon"]'));
const plain = link.href;

/** Called when the page is drawn. */
export function showTitle() {
  const unread = unreadNews();
  if (unread === shown) return;
  shown = unread;
  document.title = unread ? `(${unread > 999 ? '999+' : unread}) hongbao` : 'hongbao';
  link.href = unread ? `data:image/svg+xml,${encodeURIComponent(counted(unread > 9 ? '9+' : String(unread)))}` : plain;
  if ('setAppBadge' in navigator) navigator.setAppBadge(unread).catch(() => {}); // 0 removes it
}

/** The envelope of icon.svg with a number. @param {string} number */
function counted(number) {
  return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="2" width="20" height="28" rx="3" fill="#d8342b"/>'
    + '<path d="M3 9q10 8 20 0" fill="none" stroke="#b81c22" stroke-width="2"/><circle cx="22" cy="21" r="10" fill="#1d1b19"/>'
    + `<text x="22" y="26" font-family="sans-serif" font-size="14" font-weight="700" text-anchor="middle" fill="#fff">${number}</text></svg>`;
}
