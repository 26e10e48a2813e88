import type { KnownBody, RefusedValue, SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { Observation, Parsed } from '../provider.ts';
import type { FetchFailures, Retry } from './failures.ts';

/** Everything that a run fetched, not yet validated. */
export interface ProviderData {
  outcome: 'fetched';
  observations: Observation[];
  missing: number;
  refused: RefusedValue[];
  /** Inconsistent bars. They are published. */
  odd: RefusedValue[];
  /** Rows skipped on purpose. */
  ignored: RefusedValue[];
  bodyHash: string | undefined;
  bytes: number;
  /** How many bodies have not changed since the last run. */
  kept: number;
  /** Hashes of the URLs of those bodies. */
  unchanged: Set<string>;
  /** To be stored if the run succeeds. */
  bodies: FetchedBody[];
  /** Series that may lack days in some body. */
  incomplete: Set<string>;
  /** One reason for each body with far fewer observations than the last time. */
  shrunken: string[];
  /** Series whose requests failed. */
  failed: SeriesFailure[];
  /** Set if what failed may succeed before the next scheduled run. */
  retry: Retry | undefined;
}

/** A body, and the series that it should contain. */
export interface FetchedBody extends KnownBody {
  covers: readonly string[];
}

/** A body with fewer than half of the last observations was probably truncated. Small bodies are not compared. */
const SHRINKAGE_MAX = 0.5;
const COMPARED_MIN = 10;

/** Why a body looks truncated. A body of one series then fails; one of all series is left to the operator. */
export function shrinkageOf({ observations }: Pick<Parsed, 'observations'>, before: KnownBody | undefined) {
  const earlier = before?.observations ?? 0;
  if (earlier < COMPARED_MIN || observations.length >= earlier * SHRINKAGE_MAX) return undefined;
  return `${observations.length} observations, but ${earlier} the last time`;
}

/** Collects what the requests of one run return. */
export class ProviderDataBuilder {
  readonly #result: ProviderData = {
    outcome: 'fetched',
    observations: [],
    missing: 0,
    refused: [],
    odd: [],
    ignored: [],
    bodyHash: undefined,
    bytes: 0,
    kept: 0,
    unchanged: new Set(),
    bodies: [],
    incomplete: new Set(),
    shrunken: [],
    failed: [],
    retry: undefined,
  };
  readonly #hasher = new Bun.CryptoHasher('sha256');

  /** Adds a body that has not changed since the last run. */
  keep(known: KnownBody, covers: readonly string[]): void {
    this.#result.kept++;
    this.#result.unchanged.add(known.urlHash);
    this.#result.bodies.push({ ...known, covers });
  }

  /** Adds a body that was fetched and parsed. `before` is its predecessor of the last run. */
  take(
    body: Uint8Array,
    { observations, missing, refused, odd = [], ignored = [], complete = false }: Parsed,
    validators: Omit<FetchedBody, 'observations'>,
    before: KnownBody | undefined,
  ): void {
    const result = this.#result;
    this.#hasher.update(body);
    result.bytes += body.length;
    for (const observation of observations) {
      result.observations.push(observation);
      if (!complete) result.incomplete.add(observation.series);
    }
    for (const refusal of refused) result.refused.push(refusal);
    for (const remark of odd) result.odd.push(remark);
    for (const remark of ignored) result.ignored.push(remark);
    result.missing += missing;
    result.bodies.push({ ...validators, observations: observations.length });
    const shrinkage = shrinkageOf({ observations }, before);
    if (shrinkage !== undefined) result.shrunken.push(shrinkage);
  }

  result({ series, retry }: FetchFailures): ProviderData {
    this.#result.failed = series;
    // Days that are absent may be on a page that was not read.
    for (const failure of series) this.#result.incomplete.add(failure.series);
    this.#result.retry = retry;
    if (this.#result.bytes > 0) this.#result.bodyHash = this.#hasher.digest('hex');
    return this.#result;
  }
}
