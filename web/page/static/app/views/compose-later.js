// When a packet opens, and for whom it keeps shares.
import { h, Fragment } from '../dom.js';
import { t } from '../words.js';
import { duration } from '../format.js';
import { holdTimes, mayHold } from '../model/compose.js';
import { Choice } from './choice.js';
import { Field } from './compose-field.js';
import { People } from './compose-people.js';

export function Opens({ form, problem, fill }) {
  return h(Field, {
    name: 'opens', label: t('compose.opens'), type: 'datetime-local', value: form.opens, problem: problem('opens'), hint: t('compose.opensMeans'),
    onValue: (opens) => fill({ opens }),
  });
}

export function Hold({ view, form, problem, fill }) {
  if (!mayHold(view, form)) return null;
  return h(Fragment, null,
    h(Choice, {
      name: 'compose-hold', label: t('compose.hold'), value: form.hold, choose: (hold) => fill({ hold }),
      options: ['nobody', 'away', 'some'].map((value) => ({ value, label: t(`compose.holds.${value}`) })),
    }),
    form.hold === 'some' && h(People, { view, chosen: form.holdFor, problem: problem('holdFor'), onChosen: (holdFor) => fill({ holdFor }) }),
    form.hold !== 'nobody' && h(Fragment, null,
      h(Choice, {
        name: 'compose-hold-time', label: t('compose.holdTime'), value: String(form.holdTime), choose: (s) => fill({ holdTime: Number(s) }),
        options: holdTimes(form).map((s) => ({ value: String(s), label: duration(s * 1000) })),
      }),
      h('p', { class: 'muted small' }, t('compose.holdMeans'))));
}
