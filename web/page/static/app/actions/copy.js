// Copies text to the clipboard if the browser allows it. Otherwise it selects the text, so that the user can copy it.
import { toast } from '../state.js';
import { t } from '../words.js';

/** @param {string} text @returns {Promise<boolean>} it was copied */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t('info.copied'));
    return true;
  } catch { // the page's address is not secure, or it is not allowed
    toast(t('info.notCopied'));
    return false;
  }
}
