// A back end's use of the types that two generators make from the server API's document. It is compiled, and never run.

import type { components } from './schema.js';
import type { PutUserBody, SendRequest } from './generated/index.js';

// An object of the host has fields of any name and form.
const custom = { tier: 'gold', tags: ['a', 1], since: { year: 2026 } };
export const user: [components['schemas']['PutUserBody'], PutUserBody] = [{ custom }, { custom }];
export const text: [components['schemas']['SendRequest'], SendRequest] = [
  { room: 'r', key: 'k', text: 't', data: custom },
  { room: 'r', key: 'k', text: 't', data: custom },
];
export const tier = (u: components['schemas']['HostUser']) => u.custom?.['tier'];

// @ts-expect-error: there is no such field
export const wrong: [components['schemas']['PutUserBody'], PutUserBody] = [{ nam: 'Ann' }, { nam: 'Ann' }];
