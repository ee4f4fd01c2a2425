// Copying, where the page may; else it stands there to be marked.
import { toast } from '../state.js';
import { t } from '../words.js';

/** @param {string} text @returns {Promise<boolean>} it was copied */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t('info.copied'));
    return true;
  } catch { // not a secure address, or not allowed
    toast(t('info.notCopied'));
    return false;
  }
}
