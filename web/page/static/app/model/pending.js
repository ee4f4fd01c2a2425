// Keeps messages whose files are not uploaded yet, with the files, in this browser: a reload does not lose them. They are stored by user. Without such a storage
// they last as long as the page.
import { pendingName } from '../storage.js';

/**
 * @typedef {{key: string, user: string, at: number, request: any, files: import('./tray.js').Attached[]}} Pending
 */

/**
 * Runs one transaction.
 * @template T
 * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} act
 * @returns {Promise<T>}
 */
async function inStore(mode, act) {
  /** @type {IDBDatabase} */
  const db = await new Promise((resolve, reject) => {
    const asked = indexedDB.open(pendingName, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('pending', { keyPath: 'key' });
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction('pending', mode);
      const request = act(transaction.objectStore('pending'));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    db.close();
  }
}

/** @param {string} user @param {import('../state.js').Sending} sending */
export async function keepPending(user, { key, at, request, files = [] }) {
  const plain = files.map(({ local: _, uploaded: __, ...file }) => file); // an address lasts as long as the page
  await inStore('readwrite', (store) => store.put({ key, user, at, request: { ...request }, files: plain }));
}

/** @param {string} key */
export async function forgetPending(key) { await inStore('readwrite', (store) => store.delete(key)); }

/** The oldest first. @param {string} user @returns {Promise<Pending[]>} */
export async function pendingOf(user) {
  const all = await inStore('readonly', (store) => store.getAll());
  return all.filter((one) => one.user === user).sort((a, b) => a.at - b.at);
}
