import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasDiskSpace } from '../../ledger/engine/disk-space.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { spentByName } from '../endpoints.ts';
import { type LockSlot, lockSlot, type SlotLock } from './slot-lock.ts';
import {
  createSpoolFile,
  NewerSpool,
  openSpoolFile,
  parseSpoolFileName,
  SPOOL_VERSION,
  type SpoolFile,
  spoolFileName,
} from './spool-file.ts';
import { countIn, eraseOwner, type Owner, pack, readOwner, unpack, writeOwner } from './spool-record.ts';

/** 1 MB: enough leases for a busy replica. One with more leases gets a second file. */
const RECORDS_PER_FILE = 4_096;
/** The share of a file that is kept free, for new leases on a full disk. */
const RESERVED_SHARE = 1 / 4;

/** The counts of one lease, in memory that outlives the process. */
export class SpoolRecord {
  readonly file: SpoolFile;
  /** Its number in the file. */
  readonly index: number;

  constructor(file: SpoolFile, index: number) {
    this.file = file;
    this.index = index;
  }

  count(counter: number): number {
    return countIn(this.file.packedCount(this.index, counter));
  }

  spentBy(): Record<string, number> {
    return spentByName(this.file.endpoints, (counter) => this.count(counter));
  }

  /** Erases the record: only after the ledger has acknowledged its counts. */
  free(): void {
    eraseOwner(this.file.ownerArea(this.index));
    this.file.free.push(this.index);
  }
}

/** The counts of a lease whose process has died. */
export interface Leftover {
  owner: Owner;
  spentBy: Record<string, number>;
  /** Its record, if the next lease can go on counting in it. */
  record: SpoolRecord | undefined;
  /** Erases the record: only after the ledger has acknowledged it. */
  free(): void;
}

export interface SpoolOptions {
  dir: string;
  /** The endpoints that are counted: a record has one count for each. */
  endpoints: readonly string[];
  /** Called for each damaged record or file. The ledger holds back its units, as for a lost host. */
  warn: (text: string) => void;
  lock?: LockSlot;
  recordsPerFile?: number;
}

/**
 * Keeps counts until the ledger has them, in memory-mapped files: a spend is a store instead of a system call, and
 * survives kill -9.
 *
 *     spool/  0.lock  0-0.v4.spool  0-1.v4.spool     the slot of one process: a lock, and files added as needed
 *             1.lock  1-0.v4.spool                   the slot of another
 */
export class Spool {
  readonly #dir: string;
  readonly #endpoints: readonly string[];
  readonly #warn: (text: string) => void;
  readonly #lock: LockSlot;
  readonly #recordsPerFile: number;
  readonly #slot: number;
  readonly #held = new Map<number, SlotLock>();
  /** The files whose free records are used for new leases. */
  readonly #current: SpoolFile[] = [];
  #files = 0;

  /** Counts that the last owner of this slot left behind. */
  readonly leftovers: readonly Leftover[];

  /** Takes the first free slot. Throws `NewerSpool` when a newer program left counts in it. */
  constructor(options: SpoolOptions) {
    this.#dir = options.dir;
    this.#endpoints = options.endpoints;
    this.#warn = options.warn;
    this.#lock = options.lock ?? lockSlot;
    this.#recordsPerFile = options.recordsPerFile ?? RECORDS_PER_FILE;
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    let slot = 0;
    while (!this.#take(slot)) slot++;
    this.#slot = slot;
    try {
      this.leftovers = this.#openSlot(slot).flatMap((file) =>
        this.#isCurrent(file) ? this.#reuse(file) : this.#drain(file, () => {}),
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Allocates records for the next leases, if fewer than this are free. Throws when the disk is full. */
  reserve(least = 1): void {
    let reserved = 0;
    for (const { free } of this.#current) reserved += free.length;
    if (reserved >= least) return;
    const path = join(this.#dir, spoolFileName(this.#slot, this.#files));
    const file = createSpoolFile(path, this.#recordsPerFile, this.#endpoints);
    for (let index = 0; index < file.count; index++) file.free.push(index);
    this.#current.push(file);
    this.#files++;
  }

  /** Allocates records before they are needed, while the disk has space: the next leases may be opened on a full one. */
  reserveAhead(): void {
    if (!hasDiskSpace(this.#dir)) return;
    try {
      this.reserve(this.#recordsPerFile * RESERVED_SHARE);
    } catch {
      // The lease that needs a record reports it.
    }
  }

  /** A record for a new lease, all counts at 0. Throws when the disk is full. */
  add(owner: Owner): SpoolRecord {
    this.reserve();
    const file = this.#current.find(({ free }) => free.length > 0)!;
    const index = file.free.at(-1)!;
    const first = file.firstCountAt(index);
    const none = pack(0, file.saltOf(owner));
    for (let i = 0; i < file.endpoints.length; i++) file.words[first + i * file.block] = none;
    writeOwner(file.ownerArea(index), owner);
    file.free.pop();
    return new SpoolRecord(file, index);
  }

  /**
   * Takes over what dead processes left in their slots. A slot is released when all of its records have been freed.
   * Not called at the start: processes that start together would take each other's slots.
   */
  adopt(): Leftover[] {
    const slots = readdirSync(this.#dir).flatMap((name) => /^(\d+)\.lock$/.exec(name)?.[1] ?? []);
    return slots.map(Number).flatMap((slot) => this.#adoptSlot(slot));
  }

  /** Releases the slots. The next process takes over what is left in them. */
  close(): void {
    for (const lock of this.#held.values()) lock.release();
    this.#held.clear();
  }

  #adoptSlot(slot: number): Leftover[] {
    if (this.#held.has(slot) || this.#namesOf(slot).length === 0) return [];
    try {
      if (!this.#take(slot)) return [];
      const files = this.#openSlot(slot);
      let undrained = files.length;
      if (undrained === 0) this.#release(slot);
      return files.flatMap((file) =>
        this.#drain(file, () => {
          if (--undrained === 0) this.#release(slot);
        }),
      );
    } catch (error) {
      this.#release(slot);
      // It is left for a newer program, or until it can be read again. The other slots do not wait for it.
      const isNewer = error instanceof NewerSpool;
      this.#warn(isNewer ? error.message : `slot ${slot} of the spool cannot be read: ${messageOf(error)}`);
      return [];
    }
  }

  #take(slot: number): boolean {
    const lock = this.#lock(join(this.#dir, `${slot}.lock`));
    if (lock) this.#held.set(slot, lock);
    return lock !== undefined;
  }

  #release(slot: number): void {
    this.#held.get(slot)?.release();
    this.#held.delete(slot);
  }

  /** Opens every file of a slot before any is changed. A file with a damaged header is renamed. */
  #openSlot(slot: number): SpoolFile[] {
    const names = this.#namesOf(slot);
    if (slot === this.#slot) this.#files = Math.max(-1, ...names.map(({ file }) => file)) + 1;
    const opened = names.map(({ path }) => ({ path, file: openSpoolFile(path) }));
    return opened.flatMap(({ path, file }) => {
      if (file?.missing) this.#warn(`${path} is truncated: ${file.missing} of its records are missing`);
      if (file) return file;
      this.#warn(
        `${path}: the header is damaged; its counts are ignored, and the file is kept as ${path}.damaged`,
      );
      renameSync(path, `${path}.damaged`);
      return [];
    });
  }

  /** Reads a file whose free records are used for new leases. */
  #reuse(file: SpoolFile): Leftover[] {
    this.#current.push(file);
    const reuse = (index: number) => void file.free.push(index);
    return this.#read(file, reuse, reuse, (index) => new SpoolRecord(file, index));
  }

  /** Reads a file that takes no new leases. It is deleted once all of its records have been freed. */
  #drain(file: SpoolFile, drained: () => void): Leftover[] {
    const finish = () => {
      rmSync(file.path);
      drained();
    };
    let unsettled = 0;
    const leftovers = this.#read(
      file,
      () => {},
      () => {
        if (--unsettled === 0) finish();
      },
    );
    unsettled = leftovers.length;
    if (unsettled === 0) finish();
    return leftovers;
  }

  /** Calls `empty` at once for each record without counts, and `freed` later for each that was settled. */
  #read(
    file: SpoolFile,
    empty: (index: number) => void,
    freed: (index: number) => void,
    recordOf?: (index: number) => SpoolRecord,
  ): Leftover[] {
    const leftovers: Leftover[] = [];
    for (let index = 0; index < file.count; index++) {
      const content = readRecord(file, index);
      if (typeof content === 'object') {
        const free = () => {
          eraseOwner(file.ownerArea(index));
          freed(index);
        };
        leftovers.push({ ...content, record: recordOf?.(index), free });
        continue;
      }
      if (content !== 'empty') this.#warn(`${file.path}: ${content}; its counts are ignored`);
      eraseOwner(file.ownerArea(index));
      empty(index);
    }
    return leftovers;
  }

  #isCurrent(file: SpoolFile): boolean {
    return file.version === SPOOL_VERSION && file.endpoints.join() === this.#endpoints.join();
  }

  #namesOf(slot: number): { file: number; path: string }[] {
    return readdirSync(this.#dir).flatMap((name) => {
      const parsed = parseSpoolFileName(name);
      return parsed?.slot === slot ? { file: parsed.file, path: join(this.#dir, name) } : [];
    });
  }
}

/** The record's content; `empty`, or a sentence about what is wrong with it. */
function readRecord(file: SpoolFile, index: number): Pick<Leftover, 'owner' | 'spentBy'> | string {
  const owner = readOwner(file.ownerArea(index));
  if (owner === 'empty') return owner;
  if (owner === 'torn') return 'a record cannot be read';
  const salt = file.saltOf(owner);
  const isDamaged = file.endpoints.some(
    (_, counter) => unpack(file.packedCount(index, counter), salt) === undefined,
  );
  if (isDamaged) return `the counts of lease ${owner.leaseId} cannot be read`;
  return {
    owner,
    spentBy: spentByName(file.endpoints, (counter) => countIn(file.packedCount(index, counter))),
  };
}
