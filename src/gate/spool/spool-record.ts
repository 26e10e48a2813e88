import type { Period } from '../../ledger/period.ts';

/**
 * One record of the spool, 512 bytes:
 *
 *      0         4          8                            448                       512
 *      ├─ crc32 ─┼─ length ─┼─ JSON of the owner, zeros ──┼─ 8 counts of 8 bytes ───┤
 *      └──────── written once, the crc last ──────────────┘   one aligned store each
 *
 * The header says whose counts these are. A count is changed by one store of 8 bytes, which no kill can tear, and
 * carries its own check bits in the same store. So a record is either right or it is refused.
 */
export interface Owner {
  accountId: string;
  period: Period;
  leaseId: string;
  replica: string;
}

export const RECORD_BYTES = 512;
export const COUNTS_AT = 448;
export const COUNTS = 8;

/** A lease is changed for a new one before a count could pass this. */
export const COUNT_MAX = 2 ** 28 - 1;

const OWNER_AT = 8;
const OWNER_BYTES_MAX = COUNTS_AT - OWNER_AT;
const CHECK_RANGE = 2 ** 24;

/**
 * A count and 24 check bits as one whole number below 2^52, which a float64 holds exactly. The check of 0 is not 0,
 * so that a page of zeros is not taken for a count.
 */
export function pack(count: number): number {
  return count * CHECK_RANGE + checkOf(count);
}

/** The count, or undefined when the number is not one that `pack` makes. */
export function unpack(packed: number): number | undefined {
  const count = Math.floor(packed / CHECK_RANGE);
  return count >= 0 && count <= COUNT_MAX && pack(count) === packed ? count : undefined;
}

/** Writes the owner. Until the last line the record counts as empty. */
export function writeOwner(record: Uint8Array, owner: Owner): void {
  const text = new TextEncoder().encode(JSON.stringify(owner));
  if (text.length > OWNER_BYTES_MAX) {
    throw new Error(`the account id "${owner.accountId}" is too long: its lease needs ${text.length} bytes`);
  }
  const view = viewOf(record);
  view.setUint32(0, 0, true);
  record.fill(0, OWNER_AT, COUNTS_AT);
  record.set(text, OWNER_AT);
  view.setUint32(4, text.length, true);
  view.setUint32(0, crcOf(record), true);
}

/** Makes the record empty. The crc goes first, so that a kill in between leaves no owner without counts. */
export function eraseOwner(record: Uint8Array): void {
  viewOf(record).setUint32(0, 0, true);
  record.fill(0, 0, COUNTS_AT);
}

/** The owner; `empty` when there is none, `torn` when what is there cannot be trusted. */
export function readOwner(record: Uint8Array): Owner | 'empty' | 'torn' {
  const view = viewOf(record);
  if (view.getUint32(0, true) === 0) return 'empty';
  const length = view.getUint32(4, true);
  if (length > OWNER_BYTES_MAX || view.getUint32(0, true) !== crcOf(record)) return 'torn';
  const owner: Owner = JSON.parse(new TextDecoder().decode(record.subarray(OWNER_AT, OWNER_AT + length)));
  return owner;
}

/** Over the length and the whole text area: no byte of the header is left out. */
function crcOf(record: Uint8Array): number {
  return Bun.hash.crc32(record.subarray(4, COUNTS_AT)) || 1; // 0 means empty
}

function checkOf(count: number): number {
  return Math.imul(count ^ 0x5bd1_e995, 0x9e37_79b1) >>> 8;
}

function viewOf(record: Uint8Array): DataView {
  return new DataView(record.buffer, record.byteOffset, record.byteLength);
}
