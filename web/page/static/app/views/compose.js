// The form of a red packet, drawn as its envelope. The kind, the amount, the count and the greeting come first; the others are folded
// and have defaults. Limits are told when they are passed.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { duration, money, number } from '../format.js';
import { check, emptyForm, isDrawn, isOfRain, mayHold, packetOf, shownCount, wavesOf } from '../model/compose.js';
import { peopleIn } from '../model/rooms.js';
import { sendPacket } from '../actions/packets.js';
import { closeSheet } from '../route.js';
import { Choice } from './choice.js';
import { ComposeEnvelope } from './compose-envelope.js';
import { Field } from './compose-field.js';
import { More } from './compose-more.js';
import { People } from './compose-people.js';
import { Preview, Skins } from './compose-skin.js';
import { Way } from './compose-way.js';

/**
 * The form is kept when the sheet is closed.
 * @type {WeakMap<import('../state.js').RoomView, import('../model/compose.js').Form>}
 */
const drafts = new WeakMap();

export class Compose extends Component {
  state = { asked: false };
  /** @type {{current: any}} */ form = createRef();

  /** With a user in the address the packet is for this user. */
  componentDidMount() {
    const one = state.people.get(this.props.id);
    if (one) this.fill({ kind: 'one', one });
    this.focus('total');
  }

  fill = (values) => {
    const { view } = this.props;
    drafts.set(view, { ...(drafts.get(view) ?? emptyForm(view)), ...values });
    this.forceUpdate();
  };

  send = (e) => {
    e.preventDefault();
    const { view } = this.props;
    const form = drafts.get(view) ?? emptyForm(view);
    const checked = check(form);
    const wrong = checked.missing ?? Object.keys(checked.problems).find((name) => checked.problems[name]);
    if (wrong) {
      this.setState({ asked: true }, () => this.focus(wrong));
      return;
    }
    drafts.delete(view);
    closeSheet();
    sendPacket(view.room.id, packetOf(form, checked, t('compose.usualGreeting')));
  };

  focus(name) {
    const field = this.form.current?.elements[name];
    const folded = field?.closest('details');
    if (folded) folded.open = true;
    field?.focus();
  }

  render({ view }, { asked }) {
    const form = drafts.get(view) ?? emptyForm(view);
    const checked = check(form);
    const problem = (name) => words(checked.problems[name]) || (asked && checked.missing === name ? t(`compose.missing.${name}`) : '');
    const ready = checked.total !== null && !checked.problems.total;
    const packet = packetOf(form, checked, t('compose.usualGreeting'));
    const { fill } = this;
    return h('form', { class: 'compose stack', ref: this.form, onSubmit: this.send, noValidate: true, autocomplete: 'off' },
      view.room.kind !== 'direct' && h(Choice, {
        name: 'compose-kind', label: t('compose.kind'), bare: true, value: form.kind, choose: (kind) => fill({ kind }),
        options: ['lucky', 'equal', 'one'].map((value) => ({ value, label: t(`compose.${value}`) })),
      }),
      form.kind !== 'one' && h(Way, { form, fill }),
      h(ComposeEnvelope, { form, problem, fill, left: left(form.greeting, state.limits?.greeting_chars) }),
      form.kind !== 'one' && h(Field, {
        name: 'count', label: t('compose.count'), value: shownCount(form), problem: problem('count'), inputMode: 'numeric',
        hint: countHint(view, form, checked), onValue: (count) => fill({ count }), onFocus: (e) => e.target.select(),
      }),
      form.kind === 'one' && view.room.kind !== 'direct' && h(People, {
        view, single: true, chosen: form.one ? [form.one] : [], problem: problem('to'), onChosen: ([one = null]) => fill({ one }),
      }),
      h(Skins, { skin: form.skin, fill }),
      h(Preview, { form, packet }),
      h('details', { class: 'compose-more' },
        h('summary', null, h('span', null, t('compose.more')), h('span', { class: 'muted small cut' }, chosen(view, form))),
        h(More, { view, form, checked, problem, fill })),
      h('div', { class: 'compose-foot' },
        h('button', { class: 'button primary wide', type: 'submit' },
          ready ? t('compose.sendAmount', { amount: money(checked.total) }) : t('compose.send'))));
  }
}

/** @param {import('../model/compose.js').Problem|undefined} problem */
function words(problem) {
  if (!problem) return '';
  const { word, value = 0 } = problem;
  return t(`compose.wrong.${word}`, { count: value, shown: number(value), amount: money(value) });
}

function countHint(view, form, { total, count, problems }) {
  if (form.kind === 'equal' && total && count && !problems.total && !problems.count) return t('compose.altogether', { amount: money(total) });
  const people = peopleIn(view.room);
  if (isOfRain(form) && count && !problems.count) return t('compose.eachWave', { count: count / wavesOf(form), shown: number(count / wavesOf(form)) });
  if (isDrawn(form) && count && !form.chosen && people > count) return t('compose.ifAll', { people: number(people), count, shown: number(count) });
  return t('compose.here', { count: people, shown: number(people) });
}

function left(text, most) {
  const n = most ? most - [...text.trim()].length : Infinity;
  return n <= 20 ? t('compose.charsLeft', { count: Math.max(0, n) }) : '';
}

/** A summary of the folded fields. */
function chosen(view, form) {
  return [
    form.kind === 'lucky' && t(`compose.${form.spread}`),
    form.kind !== 'one' && (form.chosen ? t('compose.forSome', { count: form.to.length }) : t(form.earlier ? 'compose.forEarlier' : 'compose.everyone')),
    form.passphrase && t('compose.passphrase'),
    form.opens && t('compose.opens'),
    !isDrawn(form) && duration(form.ttl * 1000),
    mayHold(view, form) && form.hold !== 'nobody' && `${t('compose.hold')} ${t(`compose.holds.${form.hold}`)}`,
  ].filter(Boolean).join(' · ');
}
