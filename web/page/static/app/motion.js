// Whether things may move.

/** The user prefers reduced motion. */
export function calm() { return matchMedia('(prefers-reduced-motion: reduce)').matches; }
