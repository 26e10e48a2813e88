/** Upper bounds of latency buckets, in ms. The largest is longer than any client waits. */
const LATENCY_BOUNDS_MS = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 30_000, 60_000,
] as const;

const BUCKETS = LATENCY_BOUNDS_MS.length + 1;
export const LATENCY_BUCKETS = BUCKETS;
/** Behind the buckets. */
const SUM = BUCKETS;

/** The size of a histogram in memory that threads share. */
export const HISTOGRAM_BYTES = (BUCKETS + 1) * Float64Array.BYTES_PER_ELEMENT;

/** Durations in Prometheus buckets. In shared memory, one thread may add and any may read. */
export class Histogram {
  readonly #cells: Float64Array;

  constructor(memory: ArrayBufferLike = new ArrayBuffer(HISTOGRAM_BYTES), offset = 0) {
    this.#cells = new Float64Array(memory, offset, BUCKETS + 1);
  }

  add(ms: number): void {
    let bucket = 0;
    while (bucket < LATENCY_BOUNDS_MS.length && ms > LATENCY_BOUNDS_MS[bucket]!) bucket++;
    this.#cells[bucket]!++;
    this.#cells[SUM]! += ms;
  }

  get count(): number {
    return this.#cells.subarray(0, BUCKETS).reduce((sum, one) => sum + one, 0);
  }

  /** Adds the count of each bucket to `totals`. */
  addTo(totals: number[]): void {
    for (let i = 0; i < BUCKETS; i++) totals[i]! += this.#cells[i]!;
  }

  get sumMs(): number {
    return this.#cells[SUM]!;
  }

  /** The samples of a metric in seconds. `labels` is empty or a list such as `endpoint="latest",status="200"`. */
  lines(name: string, labels: string): string[] {
    const separator = labels === '' ? '' : ',';
    const own = labels === '' ? '' : `{${labels}}`;
    let sum = 0;
    const lines = [...LATENCY_BOUNDS_MS.map((bound) => String(bound / 1000)), '+Inf'].map((bound, i) => {
      sum += this.#cells[i]!;
      return `${name}_bucket{${labels}${separator}le="${bound}"} ${sum}`;
    });
    lines.push(`${name}_sum${own} ${this.sumMs / 1000}`);
    lines.push(`${name}_count${own} ${sum}`);
    return lines;
  }
}

/**
 * The latency that a share of the requests stayed within, interpolated within its bucket; null without requests. Beyond the
 * last bound it is that bound.
 */
export function quantileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, one) => sum + one, 0);
  if (total === 0) return null;
  let rest = total * share;
  for (const [i, count] of counts.entries()) {
    const [from = 0, to = from] = [
      LATENCY_BOUNDS_MS[i - 1],
      LATENCY_BOUNDS_MS[i] ?? LATENCY_BOUNDS_MS.at(-1),
    ];
    if (count > 0 && rest <= count) return Math.round((from + (to - from) * (rest / count)) * 1_000) / 1_000;
    rest -= count;
  }
  return LATENCY_BOUNDS_MS.at(-1)!;
}
