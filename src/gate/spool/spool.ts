import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
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
import { countsOf, eraseOwner, type Owner, pack, readOwner, unpack, writeOwner } from './spool-record.ts';

/** 2 MB: the leases of a busy replica. A replica with more of them gets a second file. */
const RECORDS_PER_FILE = 4_096;

/** The counts of one lease, in memory that outlives the process. */
export interface SpoolRecord {
  /** The endpoint of each count. */
  readonly endpoints: readonly string[];
  /** Each is `pack(count)`; the lease stores straight into it. */
  readonly counts: Float64Array;
  /** Erases the record: only after the ledger has acknowledged its counts. */
  free(): void;
}

/** What a process that is gone had spent. */
export interface Leftover {
  owner: Owner;
  spentBy: Record<string, number>;
  /** Erases the record: only after the ledger has acknowledged it. */
  free(): void;
}

export interface SpoolOptions {
  dir: string;
  /** The endpoints that are counted: a record has one count for each. */
  endpoints: readonly string[];
  /** Called for each record or file that cannot be trusted. The ledger's hold covers it, as it covers a lost host. */
  warn: (text: string) => void;
  lock?: LockSlot;
  recordsPerFile?: number;
}

/**
 * Where spends are kept until the ledger has them: files mapped into memory, so that a spend is a store and no
 * system call, and is still there after kill -9.
 *
 *     spool/  0.lock  0-0.v2.spool  0-1.v2.spool     the slot of one process: a lock, and files added as needed
 *             1.lock  1-0.v2.spool                   the slot of another
 */
export class Spool {
  readonly #dir: string;
  readonly #endpoints: readonly string[];
  readonly #warn: (text: string) => void;
  readonly #lock: LockSlot;
  readonly #recordsPerFile: number;
  readonly #slot: number;
  readonly #held = new Map<number, SlotLock>();
  readonly #free: Uint8Array[] = [];
  #files = 0;

  /** What the last owner of this slot left behind. */
  readonly leftovers: readonly Leftover[];

  /** Takes the first slot that nobody owns. Throws `NewerSpool` when a newer program left counts in it. */
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

  /** Makes room for the next leases while there is a disk to have it on. Throws when there is not. */
  reserve(): void {
    if (this.#free.length > 0) return;
    const path = join(this.#dir, spoolFileName(this.#slot, this.#files));
    this.#free.push(...createSpoolFile(path, this.#recordsPerFile, this.#endpoints).records);
    this.#files++;
  }

  /** A record for a new lease, all counts at 0. Throws when there is no room for it. */
  add(owner: Owner): SpoolRecord {
    this.reserve();
    const bytes = this.#free.pop()!;
    const counts = countsOf(bytes, this.#endpoints.length);
    counts.fill(pack(0));
    writeOwner(bytes, owner);
    const free = () => {
      eraseOwner(bytes);
      this.#free.push(bytes);
    };
    return { endpoints: this.#endpoints, counts, free };
  }

  /**
   * Takes over what is left in the slots of processes that are gone for good. A slot is released when all of its
   * records have been freed. Not called at the start: processes that start together would take each other's slots.
   */
  adopt(): Leftover[] {
    const slots = readdirSync(this.#dir).flatMap((name) => /^(\d+)\.lock$/.exec(name)?.[1] ?? []);
    return slots.map(Number).flatMap((slot) => this.#adoptSlot(slot));
  }

  /** Releases the slots. What is left in them is for the next process. */
  close(): void {
    for (const lock of this.#held.values()) lock.release();
    this.#held.clear();
  }

  #adoptSlot(slot: number): Leftover[] {
    if (this.#held.has(slot) || this.#namesOf(slot).length === 0 || !this.#take(slot)) return [];
    try {
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
      if (!(error instanceof NewerSpool)) throw error;
      this.#warn(error.message); // it stays for the newer program
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

  /** Opens every file of a slot before any is changed. A file whose header is damaged is put aside. */
  #openSlot(slot: number): SpoolFile[] {
    const names = this.#namesOf(slot);
    if (slot === this.#slot) this.#files = Math.max(-1, ...names.map(({ file }) => file)) + 1;
    const opened = names.map(({ path }) => ({ path, file: openSpoolFile(path) }));
    return opened.flatMap(({ path, file }) => {
      if (file) return file;
      this.#warn(
        `${path}: its header is damaged; its counts are left out, and it is kept as ${path}.damaged`,
      );
      renameSync(path, `${path}.damaged`);
      return [];
    });
  }

  /** Reads a file whose records take new leases when they are free. */
  #reuse(file: SpoolFile): Leftover[] {
    return this.#read(
      file,
      (bytes) => this.#free.push(bytes),
      (bytes) => this.#free.push(bytes),
    );
  }

  /** Reads a file that takes no new leases: it is deleted when the last of its records has been freed. */
  #drain(file: SpoolFile, drained: () => void): Leftover[] {
    const finish = () => {
      rmSync(file.path);
      drained();
    };
    let owed = 0;
    const leftovers = this.#read(
      file,
      () => {},
      () => {
        if (--owed === 0) finish();
      },
    );
    owed = leftovers.length;
    if (owed === 0) finish();
    return leftovers;
  }

  /** `empty` is called at once for each record without counts, `freed` later for each that is settled. */
  #read(file: SpoolFile, empty: (bytes: Uint8Array) => void, freed: (bytes: Uint8Array) => void): Leftover[] {
    const leftovers: Leftover[] = [];
    for (const bytes of file.records) {
      const content = readRecord(bytes, file.endpoints);
      if (typeof content === 'object') {
        const free = () => {
          eraseOwner(bytes);
          freed(bytes);
        };
        leftovers.push({ ...content, free });
        continue;
      }
      if (content !== 'empty') this.#warn(`${file.path}: ${content}; it is left out of the count`);
      eraseOwner(bytes);
      empty(bytes);
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

/** What the record holds; `empty`, or a sentence that says what is wrong with it. */
function readRecord(
  bytes: Uint8Array,
  endpoints: readonly string[],
): Pick<Leftover, 'owner' | 'spentBy'> | string {
  const owner = readOwner(bytes);
  if (owner === 'empty') return owner;
  if (owner === 'torn') return 'a record cannot be read';
  const counts = [...countsOf(bytes, endpoints.length)].map(unpack).filter((count) => count !== undefined);
  if (counts.length < endpoints.length) return `the counts of lease ${owner.leaseId} cannot be read`;
  return { owner, spentBy: spentByName(endpoints, counts) };
}
