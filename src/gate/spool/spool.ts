import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type LockSlot, lockSlot, type SlotLock } from './slot-lock.ts';
import { makeSpoolFile, openSpoolFile } from './spool-file.ts';
import {
  COUNTS,
  COUNTS_AT,
  eraseOwner,
  type Owner,
  pack,
  readOwner,
  unpack,
  writeOwner,
} from './spool-record.ts';

/** 2 MB: the leases of a busy replica. A replica with more of them gets a second file. */
const RECORDS_PER_FILE = 4_096;

/** The counts of one lease, in memory that outlives the process. */
export interface SpoolRecord {
  /** Each is `pack(count)`; the owner stores straight into it. */
  readonly counts: Float64Array;
  /** Forgets the record: only after the ledger has acknowledged its counts. */
  free(): void;
}

/** What a process that is gone had spent. */
export interface Leftover {
  owner: Owner;
  counts: number[];
  record: SpoolRecord;
}

export interface SpoolOptions {
  dir: string;
  /** Hears of each record that cannot be trusted. The ledger's hold covers it, as it does a lost host. */
  warn: (text: string) => void;
  lock?: LockSlot;
  recordsPerFile?: number;
}

/**
 * Where spends are kept until the ledger has them: files mapped into memory, so that a spend is a store and no
 * system call, and is still there after kill -9.
 *
 *     spool/  0.lock  0-0.spool  0-1.spool     the slot of one process: a lock, and files added as needed
 *             1.lock  1-0.spool                the slot of another
 */
export class Spool {
  readonly #dir: string;
  readonly #warn: (text: string) => void;
  readonly #lock: LockSlot;
  readonly #recordsPerFile: number;
  readonly #slot: number;
  readonly #held = new Map<number, SlotLock>();
  readonly #free: Uint8Array[] = [];
  #files = 0;

  /** What the last owner of this slot left behind. */
  readonly leftovers: readonly Leftover[];

  /** Takes the first slot that nobody owns. */
  constructor(options: SpoolOptions) {
    this.#dir = options.dir;
    this.#warn = options.warn;
    this.#lock = options.lock ?? lockSlot;
    this.#recordsPerFile = options.recordsPerFile ?? RECORDS_PER_FILE;
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    let slot = 0;
    while (!this.#take(slot)) slot++;
    this.#slot = slot;
    const files = this.#filesOf(slot);
    this.#files = Math.max(-1, ...files) + 1;
    this.leftovers = this.#read(slot, files, (bytes) => this.#free.push(bytes));
  }

  /** Makes room for the next leases while there is a disk to have it on. Throws when there is not. */
  reserve(): void {
    if (this.#free.length > 0) return;
    this.#free.push(...makeSpoolFile(this.#pathOf(this.#slot, this.#files), this.#recordsPerFile));
    this.#files++;
  }

  /** A record for a new lease, all counts at 0. Throws when there is no room for it. */
  add(owner: Owner): SpoolRecord {
    this.reserve();
    const bytes = this.#free.pop()!;
    const record = recordOf(bytes, () => this.#free.push(bytes));
    record.counts.fill(pack(0));
    writeOwner(bytes, owner);
    return record;
  }

  /**
   * Takes over what is left in the slots of processes that are gone for good. A slot is let go again when all of
   * its records have been freed. Not at the start: there, processes that start together would take each other's.
   */
  adopt(): Leftover[] {
    const slots = readdirSync(this.#dir).flatMap((name) => /^(\d+)\.lock$/.exec(name)?.[1] ?? []);
    return slots.map(Number).flatMap((slot) => this.#adoptSlot(slot));
  }

  /** Lets the slots go. What is left in them is for the next process. */
  close(): void {
    for (const lock of this.#held.values()) lock.release();
    this.#held.clear();
  }

  #adoptSlot(slot: number): Leftover[] {
    if (this.#held.has(slot) || this.#filesOf(slot).length === 0 || !this.#take(slot)) return [];
    const files = this.#filesOf(slot);
    let owed = 0;
    const letGo = () => {
      for (const file of files) rmSync(this.#pathOf(slot, file));
      this.#held.get(slot)?.release();
      this.#held.delete(slot);
    };
    const leftovers = this.#read(slot, files, (_, wasOwed) => {
      if (wasOwed && --owed === 0) letGo();
    });
    owed = leftovers.length;
    if (owed === 0) letGo();
    return leftovers;
  }

  #take(slot: number): boolean {
    const lock = this.#lock(join(this.#dir, `${slot}.lock`));
    if (lock) this.#held.set(slot, lock);
    return lock !== undefined;
  }

  /** Reads the records of a slot. `freed` hears of each that is empty, now or later when it was owed. */
  #read(slot: number, files: number[], freed: (bytes: Uint8Array, wasOwed: boolean) => void): Leftover[] {
    const leftovers: Leftover[] = [];
    for (const file of files) {
      const path = this.#pathOf(slot, file);
      for (const bytes of openSpoolFile(path)) {
        const left = readRecord(bytes, () => freed(bytes, true));
        if (typeof left === 'object') leftovers.push(left);
        else {
          if (left !== 'empty') this.#warn(`${path}: ${left}; it is left out of the count`);
          eraseOwner(bytes);
          freed(bytes, false);
        }
      }
    }
    return leftovers;
  }

  #filesOf(slot: number): number[] {
    const pattern = new RegExp(`^${slot}-(\\d+)\\.spool$`);
    return readdirSync(this.#dir)
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number);
  }

  #pathOf(slot: number, file: number): string {
    return join(this.#dir, `${slot}-${file}.spool`);
  }
}

/** What the record holds; `empty`, or in words what is wrong with it. */
function readRecord(bytes: Uint8Array, freed: () => void): Leftover | string {
  const owner = readOwner(bytes);
  if (owner === 'empty') return owner;
  if (owner === 'torn') return 'a record cannot be read';
  const record = recordOf(bytes, freed);
  const counts = [...record.counts].map(unpack).filter((count) => count !== undefined);
  if (counts.length < COUNTS) return `the counts of lease ${owner.leaseId} cannot be read`;
  return { owner, counts, record };
}

function recordOf(bytes: Uint8Array, freed: () => void): SpoolRecord {
  return {
    counts: new Float64Array(bytes.buffer, bytes.byteOffset + COUNTS_AT, COUNTS),
    free() {
      eraseOwner(bytes);
      freed();
    },
  };
}
