/** Enough that those of one range are few. */
const RANGES = 600;
/** Accounts in the sample of a round. */
const SAMPLE_MAX = 6_000;
/** New ranges are chosen if one has this many times as many accounts as the average. */
const UNEVEN_FROM = 3;
/** At least this many accounts are reported per second. Fewer wait for each other for up to a second: each report is a transaction. */
const FEW = 64;
const FEW_WAIT_MS = 1_000;

/** The place of something that has none yet. */
export const NO_PLACE = -1;

/** What belongs to an account and is to be reported to the ledger. */
export interface Reported {
  readonly accountId: string;
  /** Where `ReportRounds` put it last: finding its range by id takes longer than the rest of a report's preparation. */
  reportPlace: number;
}

/**
 * Decides when counts of many accounts are reported to the ledger. The account ids are divided into ranges, which are reported
 * one after the other, all of them once per interval. Accounts of a range share the pages of the ledger's tables, so a report of
 * many writes few pages, in whatever order their requests arrive. And many accounts are not reported in one burst: requests
 * would wait for it. With few accounts, a round takes less than the interval.
 */
export class ReportRounds<T extends Reported> {
  readonly #intervalMs: number;
  /** Added since the last `takeDue`. */
  #newest: T[] = [];
  #ranges = emptyRanges<T>();
  /** The first id of each range but the first. */
  #bounds: string[] = [];
  /** The place of something in the first range. It grows when new bounds are chosen, so that older places are too low. */
  #firstPlace = 0;
  /** Ids of accounts of this round, from which the bounds of the next one are chosen. */
  #sample: string[] = [];
  /** The size of the sample that the bounds were chosen from. */
  #boundsFrom = 0;
  /** Index of the next range to report; the fraction is partial progress. */
  #position = 0;
  /** How many were reported in this round, in total and in its largest range. */
  #taken = 0;
  #takenMax = 0;
  #takenAt = Number.NEGATIVE_INFINITY;
  /** How many are in the ranges. */
  #waiting = 0;

  /** An account is due early enough that no count is older than `intervalMs`. */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(one: T): void {
    this.#newest.push(one);
  }

  /** Takes those that are due, sorted by account. Called several times a second. */
  takeDue(mono: number): T[] {
    const part = Math.min((mono - this.#takenAt) / this.#intervalMs, 1);
    const waitedMs = part * this.#intervalMs;
    if (part < 1 && waitedMs < FEW_WAIT_MS && (this.#waiting + this.#newest.length) * part < FEW) return [];
    this.#takenAt = mono;
    this.#distribute(part);
    // A round takes the interval minus the time until the next call.
    const roundMs = this.#intervalMs - Math.max(waitedMs, FEW_WAIT_MS);
    const dueEnd = this.#position + RANGES * (waitedMs < roundMs ? waitedMs / roundMs : 1);
    const least = Math.min((FEW * waitedMs) / FEW_WAIT_MS, this.#waiting);
    const due: T[][] = [];
    let [end, count] = [Math.floor(this.#position), 0];
    while (end < Math.floor(dueEnd) || count < least) {
      const range = this.#takeRange(end++ % RANGES);
      due.push(range);
      count += range.length;
    }
    const reached = Math.max(dueEnd, end);
    this.#position = reached % RANGES;
    if (reached >= RANGES) this.#endRound();
    this.#waiting -= count;
    return sorted(due.flat());
  }

  #takeRange(index: number): T[] {
    const range = this.#ranges[index]!;
    this.#ranges[index] = [];
    this.#taken += range.length;
    this.#takenMax = Math.max(this.#takenMax, range.length);
    return range;
  }

  /** Takes all of them, sorted by account. */
  takeAll(): T[] {
    const all = [...this.#ranges.flat(), ...this.#newest];
    this.#ranges = emptyRanges();
    this.#newest = [];
    this.#waiting = 0;
    return sorted(all);
  }

  /** Puts the newest into their ranges. They are those of this part of an interval. */
  #distribute(part: number): void {
    const newest = this.#newest;
    this.#newest = [];
    this.#waiting += newest.length;
    const step = Math.ceil(newest.length / (SAMPLE_MAX * part));
    for (let i = 0; i < newest.length; i += step) this.#sample.push(newest[i]!.accountId);
    if (this.#sample.length > 2 * this.#boundsFrom) this.#chooseBounds();
    for (const one of newest) this.#ranges[this.#rangeOf(one)]!.push(one);
  }

  /** Keeps the ranges if they are even enough: an account that moves to the next one is reported twice in a round. */
  #endRound(): void {
    const isUneven = this.#takenMax > FEW && this.#takenMax * RANGES > UNEVEN_FROM * this.#taken;
    if (isUneven) this.#chooseBounds();
    this.#taken = 0;
    this.#takenMax = 0;
    this.#sample = [];
  }

  /** Ranges of about equally many accounts. Those that wait stay in their range, or they might wait for a second round. */
  #chooseBounds(): void {
    const ids = this.#sample.toSorted();
    this.#boundsFrom = ids.length;
    if (ids.length === 0) return;
    this.#firstPlace += RANGES;
    this.#bounds = Array.from(
      { length: RANGES - 1 },
      (_, range) => ids[Math.floor(((range + 1) * ids.length) / RANGES)]!,
    );
  }

  #rangeOf(one: T): number {
    const known = one.reportPlace - this.#firstPlace;
    if (known >= 0) return known;
    const id = one.accountId;
    let [low, high] = [0, this.#bounds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bounds[middle]! <= id) low = middle + 1;
      else high = middle;
    }
    one.reportPlace = this.#firstPlace + low;
    return low;
  }
}

function emptyRanges<T>(): T[][] {
  return Array.from({ length: RANGES }, () => []);
}

function sorted<T extends Reported>(all: T[]): T[] {
  return all.sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
}
