// The frame of every page: navigation, search, and who has signed in.
import { h } from '../dom.js';
import { state, change, may } from '../state.js';
import { t } from '../words.js';
import { signOut } from '../api.js';
import { go, href } from '../route.js';

export function languageButton() {
  return h('button', { class: 'small', lang: state.lang === 'zh' ? 'en' : 'zh-CN', onClick: () => change({ lang: state.lang === 'zh' ? 'en' : 'zh' }) }, state.lang === 'zh' ? 'English' : '中文');
}

/** The pages, with the scope that each needs. */
const places = [
  ['overview', 'read'], ['users', 'read'], ['packets', 'read'], ['rooms', 'read'], ['reports', 'moderate'], ['acts', 'admin'], ['holds', 'privacy'], ['events', 'read'], ['quarantine', 'read'], ['audit', 'read'],
];

/** The navigation marks the list to which a single thing belongs. */
const lists = { user: 'users', packet: 'packets', room: 'rooms', report: 'reports' };

export function shell(at, content) {
  return h('div', null,
    h('a', { class: 'skip', href: '#main', onClick: (event) => {
      event.preventDefault();
      document.getElementById('main').focus();
    } }, t('skip')),
    h('header', { class: 'bar' },
      h('strong', null, t('title')),
      h('nav', { 'aria-label': t('navigation') }, places.filter(([, scope]) => may(scope)).map(([page]) =>
        h('a', { href: href(page), 'aria-current': (lists[at.page] ?? at.page) === page ? 'page' : undefined }, t(`nav.${page}`)))),
      h('form', { role: 'search', 'aria-label': t('lookUp'), class: 'flat', onSubmit: (event) => {
        event.preventDefault();
        const asked = new FormData(event.currentTarget).get('q').trim();
        if (asked) go('find', asked);
      } }, h('input', { name: 'q', enterkeyhint: 'search', 'aria-label': t('lookUp'), placeholder: t('lookUpHint'), autocomplete: 'off', spellcheck: false })),
      h('div', { class: 'who' }, h('span', null, t('who', { person: state.session.person, key: state.session.key })), languageButton(),
        h('button', { class: 'small', onClick: () => signOut() }, t('signOut')))),
    h('main', { id: 'main', tabIndex: -1 }, content));
}
