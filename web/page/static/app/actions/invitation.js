// What a link leads to, before the visitor signs in, too. The code of an invite link is the proof that the visitor may see that; a public room may be seen by all.
import { RefusedError } from '../../sdk/errors.js';
import { ask } from '../client.js';
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
    const preview = await ask('v1/links/preview', { code, packet });
    change(() => { opened.preview = preview; });
  } catch (error) {
    const refused = error instanceof RefusedError ? error : Object.assign(new Error('no answer', { cause: error }), { word: 'unavailable' });
    change(() => { opened.error = refused; });
  }
}

/** The public room of an address, for a visitor. @param {string} room @returns {Promise<import('../../sdk/types.js').LinkPreview['room']>} */
export async function previewRoom(room) { return (await ask('v1/rooms/preview', { room })).room; }

/** The user signs in with the invitation before them: they join without being asked again. */
export function acceptInvitation() {
  const { invitation, route } = state;
  if (invitation?.preview && invitation.code === route.link) invitation.accepted = true;
}
