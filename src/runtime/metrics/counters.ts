/** Counts by labels such as `feed="fred",status="ok"`, since the process started. */
export class Counters {
  readonly #counts = new Map<string, number>();

  /** `zeros` exist from the start: Prometheus cannot see the increase of a count that appears later. */
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
