// The view library, imported in one place. Texts are always inserted as texts.
export { h, render, Component, createRef } from '../vendor/preact.mjs';
