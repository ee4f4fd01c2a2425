// On some phones the keyboard covers the page instead of making it smaller. There the page is made smaller by hand, so
// that the text field stays visible.

const keyboard = 120; // px, at least

/** Keeps the page above the keyboard. The result ends that. @returns {() => void} ends it */
export function aboveKeyboard() {
  const seen = window.visualViewport;
  if (!seen) return () => {};
  const page = /** @type {HTMLElement} */ (document.getElementById('app'));
  const fit = () => {
    const covered = document.documentElement.clientHeight - seen.height > keyboard && seen.scale === 1;
    page.style.height = covered ? `${seen.height}px` : '';
    if (covered) scrollTo(0, 0);
  };
  seen.addEventListener('resize', fit);
  return () => {
    seen.removeEventListener('resize', fit);
    page.style.height = '';
  };
}
