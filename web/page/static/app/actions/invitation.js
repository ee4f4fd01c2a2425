// What an invite link leads to. Its code is the proof that the visitor may see that, before signing in, too.
import { RefusedError } from '../../sdk/errors.js';
import { state, change } from '../state.js';

/** The room of a code: the part before the last point. @param {string} code */
export function roomOfCode(code) { return code.slice(0, code.lastIndexOf('.')); }

/** Reads what a link leads to, unless that is known. @param {string} code @param {string} [packet] the packet that the link was shared for */
export async function loadInvitation(code, packet) {
  if (state.invitation?.code === code && !state.invitation.error) return;
  /** @type {import('../state.js').Invitation} */
  const opened = { code, preview: null, error: null, accepted: false };
  change(() => { state.invitation = opened; });
  try {
    const response = await fetch('v1/links/preview', { method: 'POST', body: JSON.stringify({ code, packet }) });
    const answer = await response.json();
    if (!response.ok) throw new RefusedError(answer.error);
    change(() => { opened.preview = answer; });
  } catch (error) {
    const refused = error instanceof RefusedError ? error : Object.assign(new Error('no answer', { cause: error }), { word: 'unavailable' });
    change(() => { opened.error = refused; });
  }
}

/** The user signs in with the invitation before them: they join without being asked again. */
export function acceptInvitation() {
  const { invitation, route } = state;
  if (invitation?.preview && invitation.code === route.link) invitation.accepted = true;
}
