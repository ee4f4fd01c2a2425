// The page inside somebody else's product. The page that frames or has opened this one, its host, says who the user is; there
// is no door then. The server names the origins that may be hosts (HONGBAO_ALLOWED_ORIGINS): nobody else can frame the page,
// and nobody else's messages are heard. Tokens live in memory and go nowhere but to the server.
//
// A host answers what this page asks:
//
//   const chat = 'https://chat.example.com';
//   addEventListener('message', async (e) => {
//     if (e.origin !== chat || !['token-wanted', 'token-over'].includes(e.data?.hongbao)) return;
//     const hongbaoToken = await freshToken();             // a JWT; null when nobody is signed in
//     e.source.postMessage({ hongbaoToken }, chat);         // never '*': the token is for that origin only
//   });
//   <iframe src="https://chat.example.com/" allow="clipboard-write"></iframe>
//
// 'token-over' says that the last token is not good any more. A token may also be sent unasked: it opens the door, and
// tells who comes back when the session has ended.

/** @type {Window|null} */
const host = window.parent === window ? window.opener : window.parent;

/** @type {string[]} */
let origins = [];
let answered = (/** @type {string|null} */ _token) => {};
let isWanted = false;

/**
 * Listens to the host, if there may be one.
 * @param {string[]} allowed  origins
 * @param {(token: string) => void} unasked  gets tokens that nobody waits for
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
 * @returns {Promise<string|null|undefined>} null: nobody is signed in there; undefined: no host, or none that answers
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
    host.postMessage({ hongbao: question }, '*'); // holds nothing; only the answer has to be for the right one
  });
}
