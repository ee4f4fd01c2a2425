/** RefusedError is an error that the server has answered. */
export class RefusedError extends Error {
    /** @param {{code: number, message: string, temporary?: boolean}} answer as on the wire: a word, then name=value pairs */
    constructor(answer: {
        code: number;
        message: string;
        temporary?: boolean;
    });
    code: number;
    word: string;
    temporary: boolean;
    /** An earlier try was not answered, and may have been executed. */
    repeated: boolean;
    /** @type {Record<string, any>} what follows the word: counts as numbers, all else as strings */
    fields: Record<string, any>;
}
/** ClosedError says that the client has ended: the server has refused it, or close was called (code 0). */
export class ClosedError extends Error {
    /** closed is the end that the program itself has requested. */
    static byCaller(): ClosedError;
    /**
     * @param {number} code 3500 to 3999, the code of the error that refused to connect, or 0
     * @param {string} reason
     */
    constructor(code: number, reason: string);
    code: number;
    reason: string;
}
/** LostError says that no answer came: the command may have been executed. Calls handle it by repeating. */
export class LostError extends Error {
}
