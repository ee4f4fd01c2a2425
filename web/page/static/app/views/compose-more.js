// The folded fields of a packet: spread, recipients, passphrase, opening, lifetime, shares that wait.
import { h, Fragment } from '../dom.js';
import { t } from '../words.js';
import { duration } from '../format.js';
import { isDrawn, lifetimes } from '../model/compose.js';
import { Choice } from './choice.js';
import { Field } from './compose-field.js';
import { Spread } from './compose-spread.js';
import { People } from './compose-people.js';
import { Hold, Opens } from './compose-later.js';

export function More({ view, form, checked, problem, fill }) {
  return h('div', { class: 'stack' },
    form.kind === 'lucky' && h(Fragment, null,
      h(Choice, {
        name: 'compose-spread', label: t('compose.spread'), value: form.spread, options: ['calm', 'classic', 'wild'].map(option),
        choose: (spread) => fill({ spread }),
      }),
      h(Spread, { form, checked })),
    form.kind !== 'one' && h(Whom, { view, form, problem, fill }),
    h(Field, {
      name: 'passphrase', label: t('compose.passphrase'), value: form.passphrase, problem: problem('passphrase'),
      placeholder: t('compose.passphraseNone'),
      hint: t('compose.passphraseHint'), spellcheck: false, autocapitalize: 'off', onValue: (passphrase) => fill({ passphrase }),
    }),
    h(Opens, { form, problem, fill }),
    !isDrawn(form) && h(Choice, {
      name: 'compose-ttl', label: t('compose.ttl'), value: String(form.ttl), choose: (ttl) => fill({ ttl: Number(ttl) }),
      options: lifetimes().map((s) => ({ value: String(s), label: duration(s * 1000) })),
    }),
    h(Hold, { view, form, problem, fill }));
}

/** The users that may open it. */
function Whom({ view, form, problem, fill }) {
  return h(Fragment, null,
    h(Choice, {
      name: 'compose-whom', label: t('compose.whom'), value: form.chosen ? 'some' : 'everyone', options: ['everyone', 'some'].map(option),
      choose: (whom) => fill({ chosen: whom === 'some' }),
    }),
    form.chosen
      ? h(People, { view, chosen: form.to, problem: problem('to'), onChosen: (to) => fill({ to }) })
      : h('label', { class: 'switch' },
        h('span', { class: 'grow' }, t('compose.earlier'), h('span', { class: 'muted small' }, t('compose.earlierMeans'))),
        h('input', { type: 'checkbox', role: 'switch', checked: form.earlier, onChange: (e) => fill({ earlier: e.target.checked }) })));
}

/** @param {string} value */
function option(value) { return { value, label: t(`compose.${value}`) }; }
