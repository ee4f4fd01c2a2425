/**
 * @typedef {import('./types.js').Currency} Currency
 * @typedef {{balance?: unknown, next_commitment?: unknown, account_version?: unknown}} Told  what a reply or push says of the account
 */
export class Account {
    balance: number;
    nextCommitment: string;
    version: number;
    /** @type {Currency} */
    currency: Currency;
    /**
     * connected takes the account of a connect reply, whatever was known before: the user may be another one, and a
     * database that was restored from a backup has lower versions.
     * @param {Told & {currency: Currency}} data
     */
    connected(data: Told & {
        currency: Currency;
    }): void;
    /**
     * learn takes the fields that are not older than the known ones.
     * @param {Told} told
     */
    learn(told: Told): void;
    /** view is the account as it is now. @returns {import('./types.js').AccountView} */
    view(): import("./types.js").AccountView;
    #private;
}
export type Currency = import("./types.js").Currency;
/**
 * what a reply or push says of the account
 */
export type Told = {
    balance?: unknown;
    next_commitment?: unknown;
    account_version?: unknown;
};
