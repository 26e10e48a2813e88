/** Upper bounds of latency buckets, in ms. The largest is longer than any client waits. */
export const LATENCY_BOUNDS_MS = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 30_000, 60_000,
] as const;

/** Durations, counted in buckets the way Prometheus expects them. */
export class Histogram {
  count = 0;
  sumMs = 0;
  readonly #buckets = new Float64Array(LATENCY_BOUNDS_MS.length + 1);

  add(ms: number): void {
    this.count++;
    this.sumMs += ms;
    let bucket = 0;
    while (bucket < LATENCY_BOUNDS_MS.length && ms > LATENCY_BOUNDS_MS[bucket]!) bucket++;
    this.#buckets[bucket]!++;
  }

  /** The samples of a metric in seconds. `labels` is empty or a list such as `endpoint="latest",status="200"`. */
  lines(name: string, labels: string): string[] {
    const separator = labels === '' ? '' : ',';
    let sum = 0;
    const lines = LATENCY_BOUNDS_MS.map((bound, i) => {
      sum += this.#buckets[i]!;
      return `${name}_bucket{${labels}${separator}le="${bound / 1000}"} ${sum}`;
    });
    const own = labels === '' ? '' : `{${labels}}`;
    lines.push(`${name}_bucket{${labels}${separator}le="+Inf"} ${this.count}`);
    lines.push(`${name}_sum${own} ${this.sumMs / 1000}`);
    lines.push(`${name}_count${own} ${this.count}`);
    return lines;
  }
}
