// Runs commands for which the page shows no waiting state. An error is shown as a short note.
import { toast } from '../state.js';
import { inWords } from '../words.js';

/**
 * Waits for a command, and shows an error as a short note.
 * @param {Promise<any>} doing
 * @returns {Promise<any>} undefined: it did not
 */
export async function attempt(doing) {
  try {
    return await doing;
  } catch (error) {
    toast(inWords(error));
    return undefined;
  }
}
