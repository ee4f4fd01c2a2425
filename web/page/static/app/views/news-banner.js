// The banner over the page: a red packet, a mention or a direct message in a room that is not open.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { go } from '../route.js';
import { closeBanner } from '../model/news.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';

const icons = { packet: 'envelope', mention: 'at', direct: 'person' };

export function NewsBanner() {
  const { banner } = state;
  if (!banner) return null;
  const open = () => {
    closeBanner();
    go({ room: banner.room });
  };
  return h('div', { class: `news of-${banner.why}`, key: `${banner.room}/${banner.seq}` },
    h('button', { class: 'news-open grow', type: 'button', onClick: open },
      h(Icon, { name: icons[banner.why] }),
      h('span', { class: 'news-words grow' },
        h('strong', { class: 'cut', dir: 'auto' }, banner.title), h('span', { class: 'cut', dir: 'auto' }, banner.text))),
    h(IconButton, { icon: 'close', label: t('news.close'), size: 18, onClick: closeBanner }));
}
