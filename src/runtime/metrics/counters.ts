/** Counts by labels such as `feed="fred",status="ok"`, for as long as the process runs. */
export class Counters {
  readonly #counts = new Map<string, number>();

  /** `zeros` are there from the start: Prometheus cannot see the increase of a count that appears. */
  constructor(zeros: readonly string[] = []) {
    for (const labels of zeros) this.#counts.set(labels, 0);
  }

  add(labels: string, count = 1): void {
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + count);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
