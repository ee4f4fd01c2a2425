// Gives files to the user.

/** Saves a JSON file. @param {string} name @param {object} content */
export function saveFile(name, content) {
  saveBlob(name, new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: 'application/json' }));
}

/** @param {string} name @param {Blob} blob */
function saveBlob(name, blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Whether the device can hand pictures to other programs. */
export function sharesPictures() { return Boolean(navigator.canShare?.({ files: [new File([], 'a.png', { type: 'image/png' })] })); }

/** Hands a picture to another program, and saves it where that is impossible. @param {string} name @param {Blob} blob */
export async function sharePicture(name, blob) {
  const files = [new File([blob], name, { type: blob.type })];
  if (!sharesPictures()) {
    saveBlob(name, blob);
    return;
  }
  try {
    await navigator.share({ files });
  } catch (/** @type {any} */ error) {
    if (error.name !== 'AbortError') saveBlob(name, blob); // the user has changed their mind
  }
}
