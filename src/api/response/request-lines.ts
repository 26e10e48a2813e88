import { type Bytes, latin1Bytes } from '../../http/message/buffer-pool.ts';
import { type RequestId, requestIdLine, requestIdLineLength } from '../telemetry/request-id.ts';

/** What is left of a quota, and until when, as in the IETF draft. Visitors of the page have limits per address. */
export interface RateLimit {
  readonly policy: 'month' | 'address';
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** The value of the header `RateLimit`. */
export function rateLimitText({ policy, remaining, resetSeconds }: RateLimit): string {
  return `"${policy}";r=${remaining};t=${resetSeconds}`;
}

const STARTS = {
  month: latin1Bytes('RateLimit: "month";r='),
  address: latin1Bytes('RateLimit: "address";r='),
};
const DIGITS_MAX = 16;
const RATE_LIMIT_MAX = STARTS.address.length + DIGITS_MAX + endWith('9'.repeat(DIGITS_MAX)).length;

/** At most how many bytes the lines of a request take. */
export function requestLinesMax(id: RequestId): number {
  return RATE_LIMIT_MAX + requestIdLineLength(id);
}

/**
 * Writes the header lines that differ by request in front of `end`, and returns where they start. Bytes take a third of the
 * time of strings, which are concatenated, copied into one, and encoded.
 */
export function prependRequestLines(
  memory: Bytes,
  end: number,
  id: RequestId,
  rateLimit: RateLimit | undefined,
): number {
  const at = rateLimit ? prependRateLimit(memory, end, rateLimit) : end;
  return prepend(memory, at, requestIdLine(id));
}

function prependRateLimit(
  memory: Bytes,
  end: number,
  { policy, remaining, resetSeconds }: RateLimit,
): number {
  const at = prependNumber(memory, prepend(memory, end, endOf(resetSeconds)), remaining);
  return prepend(memory, at, STARTS[policy]);
}

/** The last end of a `RateLimit` line. All quotas reset at the same time, so it changes once a second. */
let [lastEnd, lastResetSeconds] = [endWith('0'), 0];

function endOf(resetSeconds: number): Bytes {
  if (resetSeconds !== lastResetSeconds) {
    lastEnd = endWith(String(resetSeconds));
    lastResetSeconds = resetSeconds;
  }
  return lastEnd;
}

function endWith(resetSeconds: string): Bytes {
  return latin1Bytes(`;t=${resetSeconds}\r\n`);
}

function prepend(memory: Bytes, end: number, bytes: Bytes): number {
  const at = end - bytes.length;
  memory.set(bytes, at);
  return at;
}

/** Divisions of larger numbers are not done with integers, and take several times as long. */
const INTEGER_MAX = 2 ** 31;
const ZERO = 48;

/** A number without a sign or decimals. */
function prependNumber(memory: Bytes, end: number, number: number): number {
  let at = end;
  let rest = number;
  for (; rest >= INTEGER_MAX; rest = Math.floor(rest / 10)) memory[--at] = ZERO + (rest % 10);
  let integer = rest | 0;
  do {
    const next = (integer / 10) | 0;
    memory[--at] = ZERO + integer - next * 10;
    integer = next;
  } while (integer > 0);
  return at;
}
