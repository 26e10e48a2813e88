import type { SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { FeedRequest, Provider } from '../provider.ts';
import type { FetchFailure } from './http-client.ts';

/** Worth another attempt before the next scheduled run, but not before `comeBackMs` have passed. */
export interface Retry {
  comeBackMs: number;
}

/** The provider's series that the body of a request contains. */
export function seriesOf({ series }: Provider, { series: one, covers }: FeedRequest): string[] {
  const ids = series.map(({ id }) => id);
  if (one !== undefined) return ids.filter((id) => id === one);
  return covers ? ids.filter((id) => covers.includes(id)) : ids;
}

/** The series that failed in a run, each with its first failure. */
export class FetchFailures {
  readonly #provider: Provider;
  readonly #reasons = new Map<string, FetchFailure>();

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  add(request: FeedRequest, failure: FetchFailure): void {
    for (const id of seriesOf(this.#provider, request)) {
      if (!this.#reasons.has(id)) this.#reasons.set(id, failure);
    }
  }

  /** The failure of the run, if every series failed. */
  get ofAll(): FetchFailure | undefined {
    const [first] = this.#reasons;
    if (!first || this.#reasons.size < this.#provider.series.length) return undefined;
    const [series, failure] = first;
    const isOne = new Set([...this.#reasons.values()].map(({ reason }) => reason)).size === 1;
    const named = isOne ? failure.reason : `every series failed; the first: ${series}: ${failure.reason}`;
    return { ...failure, ...this.#comeBack, reason: named };
  }

  get series(): SeriesFailure[] {
    return [...this.#reasons].map(([series, { reason }]) => ({ series, reason }));
  }

  /** Set if some series may succeed later. A series that no longer exists will not. */
  get retry(): Retry | undefined {
    const isOutage = [...this.#reasons.values()].some((failure) => failure.isOutage);
    return isOutage ? { comeBackMs: this.#comeBack.comeBackMs ?? 0 } : undefined;
  }

  get #comeBack(): Pick<FetchFailure, 'comeBackMs'> {
    const longest = Math.max(0, ...[...this.#reasons.values()].map(({ comeBackMs = 0 }) => comeBackMs));
    return longest > 0 ? { comeBackMs: longest } : {};
  }
}
