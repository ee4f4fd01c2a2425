// The start: who has signed in, and which page is shown.
import { h, render } from './dom.js';
import { state, change, onChange, may } from './state.js';
import { t } from './words.js';
import { readSession } from './api.js';
import { route } from './route.js';
import { errorText } from './parts.js';
import { Door } from './views/door.js';
import { shell } from './views/shell.js';
import { ActDialog } from './views/dialog.js';
import { overview } from './views/overview.js';
import { users } from './views/users.js';
import { user } from './views/user.js';
import { find } from './views/find.js';
import { packets } from './views/packets.js';
import { packet } from './views/packet.js';
import { rooms, room } from './views/rooms.js';
import { reports, report } from './views/reports.js';
import { holds } from './views/privacy.js';
import { acts, events, quarantine, audit } from './views/lists.js';

const views = { overview, users, user, find, packets, packet, rooms, room, reports, report, acts, holds, events, quarantine, audit };

function draw() {
  document.documentElement.lang = state.lang === 'zh' ? 'zh-CN' : 'en';
  document.title = t('title');
  render(content(), document.getElementById('app'));
}

function content() {
  if (state.failed) return h('main', { class: 'door' }, h('h1', null, t('title')), h('p', { role: 'alert', class: 'bad' }, errorText(state.failed)), h('button', { onClick: start }, t('again')));
  if (!state.session) return h('main', { class: 'door' }, h('h1', null, t('title')), h('p', { 'aria-busy': 'true' }, t('loading')));
  if (!state.session.key) return h(Door, {});
  const at = route();
  const view = Object.hasOwn(views, at.page) ? views[at.page] : overview;
  const nothing = !['read', 'moderate', 'privacy', 'admin'].some(may);
  return h('div', { key: state.lang }, shell(at, h('div', { key: at.hash }, nothing ? h('p', { role: 'alert' }, t('noScope')) : view(at))), state.dialog && h(ActDialog, { act: state.dialog }));
}

async function start() {
  change({ failed: undefined });
  await readSession().catch((failed) => change({ failed }));
}

onChange(draw);
addEventListener('hashchange', () => {
  draw();
  scrollTo(0, 0);
  document.getElementById('main')?.focus();
});
start();
