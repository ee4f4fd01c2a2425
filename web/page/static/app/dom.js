// The view library, imported in one place. Preact: three functions and a class, 4 KB; it has been stable for ten years,
// and text is always inserted as text.
export { h, render, Component, Fragment, createRef } from '../vendor/preact.mjs';
