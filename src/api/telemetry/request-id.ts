import { redactKeys } from '../../gate/key.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';

/**
 * Request ids are 9 random characters per process, a hyphen, and an 8-digit counter in base 32. A cached response already
 * contains an id of the same block, so only its last two digits are overwritten, without building a string.
 */
const DIGITS = '0123456789abcdefghijklmnopqrstuv';
const CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
const PREFIX = `${randomText(9)}-`;
const COUNTER_LENGTH = 8;
/** The number of ids that differ only in their last two digits. */
export const REQUEST_NUMBERS_PER_BLOCK = 1_024;

/** Ids accepted from clients: nothing that could inject a header or a log line. */
const CLIENT_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** How a response names its request: by the id that the client sent, or by a number of this process. */
export interface RequestName {
  readonly givenId: string | undefined;
  readonly requestNumber: number;
  /** One of the two as text. */
  readonly requestId: string;
}

let count = 0;

export function nextRequestNumber(): number {
  return ++count;
}

export function requestIdText(number: number): string {
  return PREFIX + number.toString(32).padStart(COUNTER_LENGTH, '0');
}

/** Offset of the last two digits in an id. */
export const LAST_DIGITS_AT = PREFIX.length + COUNTER_LENGTH - 2;

/** Overwrites the last two digits of another id of the same block. Writing all eight would take 0.2 µs. */
export function writeLastDigits(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = CODES[(number >>> 5) & 31]!;
  bytes[at + 1] = CODES[number & 31]!;
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
