import { redactKeys } from '../../gate/key.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';

/**
 * Request ids:  9 random characters of this process  +  -  +  8 characters that count up
 * A cached response has an id of the same block written already; its last two digits are written in place, without making a string.
 */
const DIGITS = '0123456789abcdefghijklmnopqrstuv';
const CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
const PREFIX = `${randomText(9)}-`;
const COUNTER_LENGTH = 8;
/** The last two digits count to this. */
export const REQUEST_NUMBERS_PER_BLOCK = 1_024;

/** An id of a client's own: what tools send, and nothing that could start a header or a log line of its own. */
const GIVEN = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

let count = 0;

/** The number of the next id. */
export function nextRequestNumber(): number {
  return ++count;
}

/** The id of a number. */
export function requestIdText(number: number): string {
  return PREFIX + number.toString(32).padStart(COUNTER_LENGTH, '0');
}

/** Where the last two digits begin in an id. */
export const LAST_DIGITS_AT = PREFIX.length + COUNTER_LENGTH - 2;

/** Writes the last two digits of a number over those of another of its block. Writing all eight takes 0.2 µs. */
export function writeLastDigits(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = CODES[(number >>> 5) & 31]!;
  bytes[at + 1] = CODES[number & 31]!;
}

/** The id that the client sent, where it is well-formed and holds no API key: it is echoed, and logged. */
export function givenRequestId({ headers }: IncomingRequest): string | undefined {
  const id = headers.get('x-request-id');
  return id !== null && GIVEN.test(id) && redactKeys(id) === id ? id : undefined;
}

/** The trace that a request belongs to, by its W3C `traceparent`. All zeros stands for none. */
export function traceIdOf({ headers }: IncomingRequest): string | undefined {
  const trace = TRACEPARENT.exec(headers.get('traceparent') ?? '')?.[1];
  return trace === undefined || /^0+$/.test(trace) ? undefined : trace;
}

function randomText(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => DIGITS[byte & 31]).join('');
}
