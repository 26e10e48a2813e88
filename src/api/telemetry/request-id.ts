import { redactKeys } from '../../gate/key.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';

/**
 * Request ids are 9 random characters per process, a hyphen, and an 8-digit counter in base 32. Ids of the same block differ
 * in their last two digits, so only those are looked up for each request.
 */
const DIGITS = '0123456789abcdefghijklmnopqrstuv';
const PREFIX = `${randomText(9)}-`;
const COUNTER_LENGTH = 8;
const NUMBERS_PER_BLOCK = DIGITS.length ** 2;
const LAST_DIGITS = Array.from(
  { length: NUMBERS_PER_BLOCK },
  (_, i) => DIGITS[Math.floor(i / DIGITS.length)]! + DIGITS[i % DIGITS.length]!,
);

/** Ids accepted from clients: nothing that could inject a header or a log line. */
const CLIENT_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

let count = 0;

/** The id of a request whose client sent none. */
export function nextRequestId(): string {
  return requestIdText(++count);
}

let block = -1;
let blockText = '';

export function requestIdText(number: number): string {
  const rest = number % NUMBERS_PER_BLOCK;
  if (number - rest !== block) {
    block = number - rest;
    blockText = PREFIX + (block / NUMBERS_PER_BLOCK).toString(32).padStart(COUNTER_LENGTH - 2, '0');
  }
  return blockText + LAST_DIGITS[rest];
}

/** The client's own id, if it is well-formed and contains no API key, because it is echoed and logged. */
export function givenRequestId({ headers }: IncomingRequest): string | undefined {
  const id = headers.get('x-request-id');
  return id !== null && CLIENT_ID.test(id) && redactKeys(id) === id ? id : undefined;
}

/** The trace id of the W3C header `traceparent`. All zeros means none. */
export function traceIdOf({ headers }: IncomingRequest): string | undefined {
  const trace = TRACEPARENT.exec(headers.get('traceparent') ?? '')?.[1];
  return trace === undefined || /^0+$/.test(trace) ? undefined : trace;
}

function randomText(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => DIGITS[byte & 31]).join('');
}
