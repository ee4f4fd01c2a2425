export class Link {
    /**
     * @param {string} address
     * @param {ClientOptions} options
     * @param {Heard} heard
     */
    constructor(address: string, options: ClientOptions, heard: Heard);
    /** @type {LinkState} */
    state: LinkState;
    /** life is aborted when the client has ended. */
    get life(): AbortSignal;
    /**
     * up resolves when there is a connection.
     * @param {AbortSignal[]} signals
     */
    up(signals: AbortSignal[]): Promise<void>;
    /**
     * rpc sends a command once. It requires a connection; without an answer it fails with a LostError.
     * @param {string} method
     * @param {any} data
     * @returns {Promise<any>}
     */
    rpc(method: string, data: any): Promise<any>;
    /**
     * send sends a message without an answer, if there is a connection.
     * @param {any} data
     */
    send(data: any): void;
    /**
     * end ends the client for good.
     * @param {ClosedError} why
     */
    end(why: ClosedError): void;
    #private;
}
export type LinkEvent = import("./types.js").LinkEvent;
export type LinkState = import("./types.js").LinkState;
export type ClientOptions = import("./types.js").ClientOptions;
/**
 * the handlers of the link
 */
export type Heard = {
    link: (event: LinkEvent) => void;
    connected: (data: any) => void;
    subscribed: (sub: {
        channel: string;
        streamPosition?: {
            offset: number;
            epoch: string;
        };
        wasRecovering: boolean;
        recovered: boolean;
        data?: any;
    }) => void;
    unsubscribed: (sub: {
        channel: string;
    }) => void;
    publication: (pub: {
        channel: string;
        offset?: number;
        data: any;
    }) => void;
    message: (message: {
        data: any;
    }) => void;
};
import { ClosedError } from './errors.js';
