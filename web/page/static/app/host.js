// The page inside another product. The host is the page that frames or has opened this one. It names the user, so
// there is no sign-in screen. The server names the origins that may be hosts (HONGBAO_ALLOWED_ORIGINS): no other origin
// can frame the page, and messages of others are ignored. Tokens are kept in memory and sent only to the server.
//
// A host answers the requests of this page:
//
//   const chat = 'https://chat.example.com';
//   addEventListener('message', async (e) => {
//     if (e.origin !== chat || !['token-wanted', 'token-over'].includes(e.data?.hongbao)) return;
//     const hongbaoToken = await freshToken();             // a JWT; null when no user is signed in
//     e.source.postMessage({ hongbaoToken }, chat);         // never '*': the token is for that origin only
//   });
//   <iframe src="https://chat.example.com/" allow="clipboard-write; microphone"></iframe>
//
// 'token-over' says that the last token is no longer valid. A token may also be sent without a request: it signs the
// user in, also when the user comes back after the session has ended.

/** @type {Window|null} */
const host = window.parent === window ? window.opener : window.parent;

/** @type {string[]} */
let origins = [];
let answered = (/** @type {string|null} */ _token) => {};
let isWanted = false;

/**
 * Listens to the host, if there may be one.
 * @param {string[]} allowed  origins
 * @param {(token: string) => void} unasked  gets tokens that were not requested
 */
export function listenToHost(allowed, unasked) {
  if (!host || !allowed.length || origins.length) return;
  origins = allowed;
  addEventListener('message', (e) => {
    if (e.source !== host || !origins.includes(e.origin)) return;
    const token = e.data?.hongbaoToken;
    if (token !== null && (typeof token !== 'string' || !token)) return;
    if (isWanted) answered(token);
    else if (token) unasked(token);
  });
}

/**
 * Asks the host for a token.
 * @param {'token-wanted'|'token-over'} question
 * @param {number} patience  ms
 * @returns {Promise<string|null|undefined>} null: no user is signed in there; undefined: no host, or none that answers
 */
export function askHost(question, patience) {
  if (!host || host.closed || !origins.length) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const finish = (/** @type {string|null|undefined} */ token) => {
      clearTimeout(timer);
      isWanted = false;
      resolve(token);
    };
    const timer = setTimeout(finish, patience, undefined);
    answered = finish;
    isWanted = true;
    host.postMessage({ hongbao: question }, '*'); // it contains no secret; only the answer must come from the right origin
  });
}
