// Parts that several views use.
import { h, Component } from './dom.js';
import { change } from './state.js';
import { t, said } from './words.js';
import { exact } from './format.js';
import { href } from './route.js';

export function when(at) { return at ? h('time', { dateTime: new Date(at).toISOString() }, exact(at)) : '–'; }

export function link(page, id, text) { return id ? h('a', { href: href(page, id) }, text || id) : '–'; }

export function userLink(id, name) { return link('user', id, name && name !== id ? `${name} (${id})` : id); }

/** What a failed request says. */
export function errorText(error) {
  if (error?.status === 401) return t('errors.signedOut');
  if (error?.status === 403) return t('errors.scope', { message: error.message });
  if (error?.status === 429) return t('errors.rate');
  if (error?.status === 404) return t('errors.missing');
  return error?.status ? t('errors.refused', { message: error.message }) : t('errors.offline');
}

export function facts(rows) {
  return h('dl', null, rows.filter(Boolean).map(([name, value]) => [h('dt', null, name), h('dd', null, value ?? '–')]));
}

/** A table. columns are [title, how to show a row, kind]; kind may be 'number'. */
export function table(caption, columns, rows, none) {
  if (!rows.length) return h('p', { class: 'muted' }, none ?? t('none'));
  return h('div', { class: 'scroll', role: 'region', 'aria-label': caption, tabIndex: 0 }, h('table', { 'aria-label': caption },
    h('thead', null, h('tr', null, columns.map(([title, , kind]) => h('th', { scope: 'col', class: kind }, title || h('span', { class: 'skip' }, t('acts')))))),
    h('tbody', null, rows.map((row) => h('tr', null, columns.map(([, show, kind]) => h('td', { class: kind }, show(row) ?? '–')))))));
}

/** Loads data and shows it. The property of names what is loaded: another one loads anew. With every, it is loaded again each so many milliseconds, unless rests says of the data that it changes no more. */
export class Load extends Component {
  componentDidMount() {
    this.run();
    const { every, rests } = this.props;
    if (every) this.timer = setInterval(() => document.hidden || rests?.(this.state.data) || this.run(true), every);
  }

  componentDidUpdate(before) { if (before.of !== this.props.of) this.run(); }

  componentWillUnmount() {
    this.gone = true;
    clearInterval(this.timer);
  }

  async run(auto) {
    const { of, load } = this.props;
    try {
      const data = await load(auto);
      if (!this.gone && of === this.props.of) this.setState({ of, data, error: undefined });
    } catch (error) {
      if (!this.gone && of === this.props.of && !(auto && this.state.data)) this.setState({ of, data: undefined, error });
    }
  }

  render({ of, show }, { of: shown, data, error }) {
    if (of === shown && error) return h('p', { role: 'alert', class: 'bad' }, errorText(error), ' ', h('button', { class: 'small', onClick: () => this.run() }, t('again')));
    if (of !== shown || data === undefined) return h('p', { 'aria-busy': 'true', class: 'muted' }, t('loading'));
    return show(data, () => this.run());
  }
}

/** A list of pages. load(next) returns { rows, next }. */
export class Pages extends Component {
  componentDidMount() { this.more(); }

  componentDidUpdate(before) {
    if (before.of === this.props.of) return;
    this.setState({ rows: undefined, next: undefined, error: undefined });
    this.more(true);
  }

  componentWillUnmount() { this.gone = true; }

  async more(anew) {
    const { of, load } = this.props;
    const had = anew ? [] : this.state.rows ?? [];
    try {
      const { rows, next } = await load(anew ? undefined : this.state.next);
      if (!this.gone && of === this.props.of) this.setState({ rows: [...had, ...rows], next, error: undefined });
    } catch (error) {
      if (!this.gone && of === this.props.of) this.setState({ error });
    }
  }

  render({ show }, { rows, next, error }) {
    return h('div', null,
      rows && show(rows, () => this.more(true)),
      error && h('p', { role: 'alert', class: 'bad' }, errorText(error), ' ', h('button', { class: 'small', onClick: () => this.more() }, t('again'))),
      !rows && !error && h('p', { 'aria-busy': 'true', class: 'muted' }, t('loading')),
      next && h('p', null, h('button', { onClick: () => this.more() }, t('more'))));
  }
}

/** A button that asks for the reason of an act, and then does it. */
export function actButton(label, act, { main, small } = {}) {
  return h('button', { class: main ? 'main' : small ? 'small' : '', 'aria-haspopup': 'dialog', onClick: () => change({ dialog: { title: label, ...act } }) }, label);
}

/** A form whose fields are the query of the address. */
export function search(label, fields, onSearch) {
  return h('form', { role: 'search', 'aria-label': label, onSubmit: (event) => {
    event.preventDefault();
    onSearch(Object.fromEntries(new FormData(event.currentTarget)));
  } }, fields, h('button', { class: 'main' }, t('find')));
}

export function field(label, name, value, more = {}) { return h('label', null, label, h('input', { name, defaultValue: value ?? '', autocomplete: 'off', spellcheck: false, ...more })); }

export function choice(label, name, value, options) {
  return h('label', null, label, h('select', { name }, options.map(([word, text]) => h('option', { value: word, selected: word === (value ?? '') }, text))));
}

export function status(word) { return h('span', { class: word === 'open' ? 'good' : 'muted' }, said('status', word)); }

/** Saves data as a file of the browser. */
export function download(name, data) {
  const address = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }));
  const a = document.createElement('a');
  a.href = address;
  a.download = name;
  a.click();
  URL.revokeObjectURL(address);
}
