export class Calls {
    /**
     * @param {Link} link
     * @param {Account} account
     */
    constructor(link: Link, account: Account);
    frameBytes: number;
    /**
     * ask sends a command until it is answered.
     * @param {string} method
     * @param {any} request
     * @param {CallOptions} [options]
     * @returns {Promise<any>}
     */
    ask(method: string, request: any, options?: CallOptions): Promise<any>;
    #private;
}
export type Link = import("./link.js").Link;
export type Account = import("./account.js").Account;
export type CallOptions = import("./types.js").CallOptions;
