/** @typedef {import('./types.js').Events} Events */
export class Listeners {
    /**
     * on adds a listener, and returns the function that removes it.
     * @template {keyof Events} Name
     * @param {Name} name
     * @param {(event: Events[Name]) => void} listener
     */
    on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => undefined;
    /**
     * @template {keyof Events} Name
     * @param {Name} name
     * @param {Events[Name]} event
     */
    tell<Name extends keyof Events>(name: Name, event: Events[Name]): void;
    #private;
}
export type Events = import("./types.js").Events;
