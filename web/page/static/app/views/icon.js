// Icons: strokes on a 24 by 24 field, drawn for this page.
import { h } from '../dom.js';

const paths = {
  close: 'M6 6l12 12M18 6L6 18',
  back: 'M15 5l-7 7 7 7',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14zM20 20l-4-4',
  'search-text': 'M20 11V6a1 1 0 0 0-1-1H5a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h2v4l4-4M16.5 12.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7zM21.5 21.5l-2.5-2.5',
  send: 'M5 12l14-7-5 14-3-6z',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  people: 'M9 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM3 20a6 6 0 0 1 12 0M16 5a3 3 0 0 1 0 6M17 14a6 6 0 0 1 4 6',
  wallet: 'M4 7h15a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM4 7V6a2 2 0 0 1 2-2h11M16 13h.01',
  envelope: 'M6 3h12a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM5 7c4 4 10 4 14 0M12 9v3',
  settings: 'M4 7h10M18 7h2M14 5v4M4 17h2M10 17h10M10 15v4',
  reply: 'M9 8L4 12l5 4M4 12h9a7 7 0 0 1 7 7',
  edit: 'M5 19l1-4L16 5l3 3L9 18z',
  trash: 'M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12',
  smile: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM9 10h.01M15 10h.01M8.5 14.5a4.5 4.5 0 0 0 7 0',
  lock: 'M7 11h10v9H7zM9 11V8a3 3 0 0 1 6 0v3',
  clock: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM12 7v5l3 2',
  check: 'M5 12l5 5L19 7',
  warn: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  crown: 'M4 18h16l1-10-5 4-4-7-4 7-5-4z',
  down: 'M12 5v14M6 13l6 6 6-6',
  sun: 'M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM12 3v1M12 20v1M3 12h1M20 12h1M5.6 5.6l.7.7M17.7 17.7l.7.7M5.6 18.4l.7-.7M17.7 6.3l.7-.7',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  auto: 'M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16zM12 4v16M13.6 4.5v15M15.2 5v14M16.8 6v12M18.4 8v8',
  person: 'M12 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM4 20a8 8 0 0 1 16 0',
  out: 'M10 5H5v14h5M14 8l4 4-4 4M18 12H9',
  muted: 'M5 10v4h3l5 4V6L8 10zM16 10l4 4M20 10l-4 4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  at: 'M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM16 8v5a2.5 2.5 0 0 0 5 0v-1a9 9 0 1 0-4 7.5',
  pin: 'M9 4h6l-1 6 3 3H7l3-3zM12 13v7',
  silent: 'M6 17h12l-1.5-2.5V11a4.5 4.5 0 0 0-9 0v3.5zM10.5 20h3M4 4l16 16',
  flag: 'M6 21V4M6 5h11l-2.5 4L17 13H6',
  camera: 'M4 8h4l1.5-3h5L16 8h4v11H4zM12 10a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z',
  play: 'M8 5l11 7-11 7z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M7 7h10v10H7z',
  attach: 'M20 11l-8 8a5 5 0 0 1-7-7l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7L9.7 16.7a1.7 1.7 0 0 1-2.4-2.4L15 6.6',
  mic: 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v4',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  download: 'M12 4v11M7 10l5 5 5-5M5 20h14',
  archive: 'M4 5h16v4H4zM5 9v10h14V9M10 13h4',
};

export function Icon({ name, size = 22 }) {
  return h('svg', {
    width: size, height: size, viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.8,
    'stroke-linecap': 'round', 'stroke-linejoin': 'round', 'aria-hidden': 'true', focusable: 'false',
  }, h('path', { d: paths[name] }));
}
