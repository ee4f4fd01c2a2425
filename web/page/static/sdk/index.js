// The SDK for browsers. The vendored centrifuge must be loaded before a Client is created.

export { Client } from './client.js';
export { ClosedError, RefusedError } from './errors.js';
export { leafOf, verifyReceipt } from './draw.js';
export { newKey } from './key.js';
export { receiptInProof, verifyProof } from './proof.js';
export { splitShares } from './split.js';
export { verifyPacket } from './verify.js';
