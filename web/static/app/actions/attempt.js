// What one asks for and does not wait for: why it did not work is said in passing.
import { toast } from '../state.js';
import { inWords } from '../words.js';

/**
 * Waits for something that one has asked for, and tells in passing when it did not work.
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
