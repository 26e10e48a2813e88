import { redactKeys } from '../../gate/key.ts';
import { type Bytes, latin1Bytes } from '../../http/message/buffer-pool.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';

/** The id that the client sent, or the number of one of our own. */
export type RequestId = string | number;

/** Our own ids are 9 random characters per process, a hyphen, and an 8-digit counter in base 32. */
const DIGITS = '0123456789abcdefghijklmnopqrstuv';
const PREFIX = `${randomText(9)}-`;
const COUNTER_LENGTH = 8;

/** Ids accepted from clients: nothing that could inject a header or a log line. */
const CLIENT_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

let count = 0;

/** The id of a request whose client sent none. */
export function nextRequestId(): RequestId {
  return ++count;
}

export function requestIdText(id: RequestId): string {
  return typeof id === 'string' ? id : PREFIX + id.toString(DIGITS.length).padStart(COUNTER_LENGTH, '0');
}

/** The line of the newest of our own ids. The next one mostly differs in its last two digits. */
const line = lineWith(requestIdText(0));
const LAST_DIGIT_AT = line.length - 3;
const NUMBERS_PER_BLOCK = DIGITS.length * DIGITS.length; // an integer for the JIT; `**` makes a double of it
let block = 0;

/** The header line of an id, valid until the next call. */
export function requestIdLine(id: RequestId): Bytes {
  if (typeof id === 'string') return lineWith(id);
  const last = id % NUMBERS_PER_BLOCK;
  if (id - last !== block) {
    block = id - last;
    line.latin1Write(requestIdText(block), LAST_DIGIT_AT + 1 - PREFIX.length - COUNTER_LENGTH);
  }
  line[LAST_DIGIT_AT - 1] = DIGITS.charCodeAt(last >> 5);
  line[LAST_DIGIT_AT] = DIGITS.charCodeAt(last & 31);
  return line;
}

export function requestIdLineLength(id: RequestId): number {
  return typeof id === 'string' ? EMPTY_LINE_LENGTH + id.length : line.length;
}

function lineWith(id: string): Bytes {
  return latin1Bytes(`X-Request-Id: ${id}\r\n`);
}

const EMPTY_LINE_LENGTH = lineWith('').length;

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
