import { type Clock, elapsedMs } from '../../runtime/clock.ts';
import { type Scheduler, systemScheduler } from '../../runtime/scheduler.ts';
import { PageFile } from '../download/page-file.ts';
import { refuse } from '../errors/errors.ts';
import type { ParquetAnswer } from './parquet-answer.ts';
import { ParquetFile } from './parquet-file.ts';
import { ParquetThread } from './parquet-thread.ts';

/** Requests of a buyer get the same file for this long, so that the requests which open it agree. */
const OPENING_MS = 60_000;
/** For this long after the payment, the same file is free, and further ranges come from it. */
const PAID_MS = 600_000;
/** How often files that are not paid for any more are looked for. */
const EVICTION_MS = 60_000;
/** Files on disk. A file that is evicted is encoded again when it is needed. */
const BYTES_MAX = 1024 ** 3;
const FILES_MAX = 100;
/** Files that are being encoded. */
const PER_ACCOUNT_MAX = 4;
const TOTAL_MAX = 64;

interface Purchase {
  etag: string;
  /** On the monotonic clock: a wall clock that is set would charge a download twice, or repeat old prices. */
  paidAt: number;
}

/**
 * The Parquet files that this process serves. Tools read a file in many requests (HEAD, then ranges), so it is encoded once, kept on disk
 * for a while, and paid for once:
 *
 *     first request ─► encode in a thread ─► file on disk ─► charge ─► HEAD, 200 or 206
 *     later requests of the same account for the same URL ─────────► HEAD, 200 or 206
 */
export class ParquetFiles {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #thread = new ParquetThread({ yieldsToOthers: true });
  /** By entity tag, in the order of their last use. */
  readonly #files = new Map<string, ParquetFile>();
  readonly #encoding = new Map<string, Promise<ParquetFile>>();
  readonly #encodingByAccount = new Map<string, number>();
  /** By buyer, in the order of payment. Encoding a file counts as one. */
  readonly #purchases = new Map<string, Purchase>();
  readonly #buying = new Map<string, Promise<ParquetFile>>();
  #cancelEviction: (() => void) | undefined;

  constructor(dir: string, clock: Clock, scheduler: Scheduler = systemScheduler) {
    this.#dir = dir;
    this.#clock = clock;
    this.#scheduler = scheduler;
  }

  /** The bytes of all files on disk. */
  get bytes(): number {
    let bytes = 0;
    for (const { length } of this.#files.values()) bytes += length;
    return bytes;
  }

  /** The file that a buyer has paid for recently. A range continues a download, anything else may start one. */
  bought(buyer: string, isRange: boolean): ParquetFile | undefined {
    const purchase = this.#purchases.get(buyer);
    if (!purchase || this.#ageOf(purchase) >= (isRange ? PAID_MS : OPENING_MS)) return undefined;
    return this.#use(purchase.etag);
  }

  /** Whether a buyer has paid for this very file. */
  isPaid(buyer: string, etag: string): boolean {
    const purchase = this.#purchases.get(buyer);
    return purchase?.etag === etag && this.#ageOf(purchase) < PAID_MS;
  }

  /** Runs a purchase, which encodes the file and charges for it. Simultaneous requests of a buyer share one. */
  buy(buyer: string, purchase: () => Promise<ParquetFile>): Promise<ParquetFile> {
    const running = this.#buying.get(buyer);
    if (running) return running;
    const buying = purchase()
      .then((file) => {
        this.#record(buyer, file.etag);
        return file;
      })
      .finally(() => this.#buying.delete(buyer));
    this.#buying.set(buyer, buying);
    return buying;
  }

  /** The file of an answer. It is encoded if it is not there. */
  async fileOf(answer: ParquetAnswer, account: string): Promise<ParquetFile> {
    const { etag, source } = answer.options;
    try {
      const encoding = this.#use(etag) ?? this.#encoding.get(etag) ?? this.#start(answer, account);
      return await encoding;
    } finally {
      await source.release();
    }
  }

  async close(): Promise<void> {
    this.#cancelEviction?.();
    this.#thread.stop();
    for (const file of this.#files.values()) await file.discard();
    this.#files.clear();
  }

  #start(answer: ParquetAnswer, account: string): Promise<ParquetFile> {
    const { etag } = answer.options;
    const own = this.#encodingByAccount.get(account) ?? 0;
    if (own >= PER_ACCOUNT_MAX) {
      throw refuse('rate_limited', { limit: `${own} Parquet files of the account are being written` }, 1);
    }
    if (this.#encoding.size >= TOTAL_MAX) {
      throw refuse('unavailable', { why: 'too many Parquet files are being written' }, 1);
    }
    this.#encodingByAccount.set(account, own + 1);
    const encoding = this.#encode(answer).finally(() => {
      this.#encoding.delete(etag);
      const left = this.#encodingByAccount.get(account)! - 1;
      if (left > 0) this.#encodingByAccount.set(account, left);
      else this.#encodingByAccount.delete(account);
    });
    this.#encoding.set(etag, encoding);
    return encoding;
  }

  async #encode(answer: ParquetAnswer): Promise<ParquetFile> {
    const { etag, columns } = answer.options;
    const content = await PageFile.open(this.#dir);
    try {
      for await (const bytes of this.#thread.encode(columns, answer.rows())) await content.add(bytes);
    } catch (error) {
      await content.close();
      throw error;
    }
    const file = new ParquetFile(answer.options, content);
    this.#files.set(etag, file);
    this.#record(`encoding ${etag}`, etag); // its buyer is charged next
    this.#evict();
    this.#evictLater();
    return file;
  }

  #use(etag: string): ParquetFile | undefined {
    const file = this.#files.get(etag);
    if (file) {
      this.#files.delete(etag);
      this.#files.set(etag, file);
    }
    return file;
  }

  #record(buyer: string, etag: string): void {
    for (const [other, purchase] of this.#purchases) {
      if (this.#ageOf(purchase) < PAID_MS) break;
      this.#purchases.delete(other);
    }
    this.#purchases.delete(buyer);
    this.#purchases.set(buyer, { etag, paidAt: elapsedMs(this.#clock) });
  }

  /** Evicts the files that were not used for the longest time. The newest one stays, as do those in use. */
  #evict(): void {
    let bytes = this.bytes;
    for (const [etag, file] of this.#files) {
      if (this.#files.size <= 1 || (bytes <= BYTES_MAX && this.#files.size <= FILES_MAX)) return;
      if (file.isInUse) continue;
      bytes -= file.length;
      this.#discard(etag, file);
    }
  }

  /** Frees the disk when nobody asks for another file. */
  #evictLater(): void {
    this.#cancelEviction ??= this.#scheduler.after(EVICTION_MS, () => {
      this.#cancelEviction = undefined;
      this.#evictUnpaid();
      if (this.#files.size > 0) this.#evictLater();
    });
  }

  /** Evicts the files for which no payment is recent. */
  #evictUnpaid(): void {
    const paid = [...this.#purchases.values()].filter((purchase) => this.#ageOf(purchase) < PAID_MS);
    const tags = new Set(paid.map(({ etag }) => etag));
    for (const [etag, file] of this.#files) if (!tags.has(etag) && !file.isInUse) this.#discard(etag, file);
  }

  #discard(etag: string, file: ParquetFile): void {
    this.#files.delete(etag);
    void file.discard();
  }

  #ageOf({ paidAt }: Purchase): number {
    return elapsedMs(this.#clock) - paidAt;
  }
}
