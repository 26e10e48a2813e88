import type { Period } from '../../ledger/quota/period.ts';
import { eraseSealed, readSealed, writeSealed } from './sealed-json.ts';

/**
 * One record of the spool:
 *
 *      0                          448
 *      ├─ the owner, sealed JSON ──┼─ a count of 8 bytes for each endpoint, padded to 64 ─┤
 *      └─ written once ────────────┘   one aligned store each
 *
 * The owner says whose counts these are. A count is changed by a single 8-byte store, which no kill can tear, and the
 * same store holds its check bits. So damage to a record is always detected.
 */
export interface Owner {
  accountId: string;
  period: Period;
  leaseId: string;
  replica: string;
}

export const COUNTS_AT = 448;

/** Padded to whole cache lines, so that the counts of two leases never share one. */
export function recordBytesFor(endpoints: number): number {
  return COUNTS_AT + Math.ceil((endpoints * 8) / 64) * 64;
}

export function countsOf(record: Uint8Array, endpoints: number): Float64Array {
  return new Float64Array(record.buffer, record.byteOffset + COUNTS_AT, endpoints);
}

/** A lease is replaced before one of its counts could exceed this. */
export const COUNT_MAX = 2 ** 28 - 1;

const CHECK_RANGE = 2 ** 24;

/**
 * A count and 24 check bits as one integer below 2^52, which a float64 holds exactly. The check bits of 0 are not 0, so
 * that a page of zeros is not taken for counts.
 */
export function pack(count: number): number {
  return count * CHECK_RANGE + checkOf(count);
}

/** The count of a packed one that is known to be valid. */
export function countIn(packed: number): number {
  return Math.floor(packed / CHECK_RANGE);
}

/** The count, or undefined when the check bits do not match. */
export function unpack(packed: number): number | undefined {
  const count = countIn(packed);
  return count >= 0 && count <= COUNT_MAX && pack(count) === packed ? count : undefined;
}

/** Writes the owner. Until it is complete, the record counts as empty. */
export function writeOwner(record: Uint8Array, owner: Owner): void {
  if (!writeSealed(ownerArea(record), owner)) {
    throw new Error(`the account id "${owner.accountId}" is too long for the spool`);
  }
}

export function eraseOwner(record: Uint8Array): void {
  eraseSealed(ownerArea(record));
}

/** The owner; `empty` when there is none, `torn` when the checksum does not match. */
export function readOwner(record: Uint8Array): Owner | 'empty' | 'torn' {
  const sealed = readSealed(ownerArea(record));
  return typeof sealed === 'string' ? sealed : (sealed.value as Owner);
}

function ownerArea(record: Uint8Array): Uint8Array {
  return record.subarray(0, COUNTS_AT);
}

function checkOf(count: number): number {
  return Math.imul(count ^ 0x5bd1_e995, 0x9e37_79b1) >>> 8;
}
