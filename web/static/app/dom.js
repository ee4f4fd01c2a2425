// The view library, named in one place. Preact: three functions and a class, 4 KB, kept for ten years, text is always text.
export { h, render, Component, Fragment, createRef } from '../vendor/preact.mjs';
