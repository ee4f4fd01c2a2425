// The address after # says what is shown: #/user/ann?from=1.

export function route() {
  const [path, query] = location.hash.slice(2).split('?');
  const parts = (path ?? '').split('/').filter(Boolean).map(decoded);
  return { page: parts[0] ?? 'overview', id: parts[1] ?? '', query: Object.fromEntries(new URLSearchParams(query ?? '')), hash: location.hash };
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

export function href(page, id, query = {}) {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== ''));
  return `#/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search.size ? `?${search}` : ''}`;
}

export function go(page, id, query) { location.hash = href(page, id, query); }
