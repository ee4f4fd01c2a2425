// The page in somebody else's product: the page that has opened or framed this one gives the user's token by postMessage. Only
// origins that the server allows are listened to; the token never leaves memory.

/** @param {string[]} hosts allowed origins @param {boolean} [again] the last one is over @returns {Promise<string|null>} */
export function hostToken(hosts, again = false) {
  const host = window.parent !== window ? window.parent : window.opener;
  if (!host || !hosts.length) return Promise.resolve(null);
  return new Promise((resolve) => {
    const hear = (/** @type {MessageEvent} */ e) => {
      if (e.source !== host || !hosts.includes(e.origin) || typeof e.data?.hongbaoToken !== 'string') return;
      finish(e.data.hongbaoToken);
    };
    const finish = (token) => {
      clearTimeout(timer);
      removeEventListener('message', hear);
      resolve(token);
    };
    const timer = setTimeout(finish, again ? 6000 : 1500, null);
    addEventListener('message', hear);
    for (const origin of hosts) host.postMessage({ hongbao: again ? 'token-over' : 'token-wanted' }, origin);
  });
}
