// What the page knows. Only change() may change it: it draws the page again.

export const state = {
  lang: (navigator.languages ?? [navigator.language]).some((l) => l.startsWith('zh')) && navigator.language.startsWith('zh') ? 'zh' : 'en',
  session: undefined, // undefined: not known yet; without key: nobody has signed in
  dialog: undefined, // the act that is asked about
  note: '', // said to screen readers and shown once
};

let draw = () => {};

export function onChange(run) { draw = run; }

export function change(to) {
  Object.assign(state, to);
  draw();
}

/** Reports whether the key may call operations of the scope. */
export function may(scope) { return has(scope) || scope === 'read' && has('support'); }

/** Reports whether the key reads texts of users without a reason. */
export function readsTexts() { return has('read'); }

function has(scope) {
  const scopes = state.session?.scopes ?? [];
  return scopes.includes(scope) || scopes.includes('admin');
}
