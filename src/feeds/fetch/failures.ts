import type { SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { FeedRequest, Provider } from '../provider.ts';
import type { FetchFailure } from './http-client.ts';

/** That another attempt before the next slot is worth it, and how long the provider wants to be left alone before. */
export interface Retry {
  comeBackMs: number;
}

/** The series of a provider, of those that it may fill, that the body of a request has. */
export function seriesOf({ series }: Provider, { series: one, covers }: FeedRequest): string[] {
  const ids = series.map(({ id }) => id);
  if (one !== undefined) return ids.filter((id) => id === one);
  return covers ? ids.filter((id) => covers.includes(id)) : ids;
}

/** The series that failed, each with its first reason. */
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

  /** The failure of the run, when no series is left. */
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

  /** Whether it may be better in an hour: a series that is gone is not. */
  get retry(): Retry | undefined {
    const isOutage = [...this.#reasons.values()].some((failure) => failure.isOutage);
    return isOutage ? { comeBackMs: this.#comeBack.comeBackMs ?? 0 } : undefined;
  }

  get #comeBack(): Pick<FetchFailure, 'comeBackMs'> {
    const longest = Math.max(0, ...[...this.#reasons.values()].map(({ comeBackMs = 0 }) => comeBackMs));
    return longest > 0 ? { comeBackMs: longest } : {};
  }
}
