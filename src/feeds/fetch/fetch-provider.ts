import type { KnownBody, RefusedValue, SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { Day } from '../../market/day.ts';
import { messageOf } from '../../runtime/log/log.ts';
import type { FeedRequest, Observation, Parsed, Provider, Secrets } from '../provider.ts';
import { FetchFailures, type Retry, seriesOf } from './failures.ts';
import { type FetchFailure, type FetchLimits, fetchBody } from './http-client.ts';
import { urlHash } from './redact.ts';
import type { Runtime } from './runtime.ts';

/** A provider that asks for more requests than this in one run is going in circles. */
const REQUESTS_MAX = 500;

export interface FetchProviderOptions {
  secrets: Secrets;
  /** The first day that is wanted; undefined for all history. */
  since: Day | undefined;
  /** Stands in for scheme and host of every request: a mirror, or a test. */
  baseUrl: string | undefined;
  known: ReadonlyMap<string, KnownBody>;
  /** Takes bodies that hold far fewer observations than the last time. */
  accept: boolean;
  /** Series that have failed since an earlier run. */
  failing: readonly string[];
  runtime: Runtime;
  limits: FetchLimits;
  signal: AbortSignal;
  onAttempt(): Promise<void>;
  /** So many requests of so many, as far as is known, are done. */
  onProgress(done: number, total: number): void;
}

/** Everything that a run got, before any of it is believed. */
export interface ProviderData {
  outcome: 'fetched';
  observations: Observation[];
  missing: number;
  refused: RefusedValue[];
  odd: RefusedValue[];
  ignored: RefusedValue[];
  bodyHash: string | undefined;
  bytes: number;
  requests: number;
  /** Requests whose body has not changed since it was taken in. */
  kept: number;
  /** Hashes of their URLs. */
  unchanged: Set<string>;
  /** To be kept when the run has succeeded. */
  bodies: FetchedBody[];
  /** The series that some body has holes in, or may have. */
  incomplete: Set<string>;
  /** Bodies that hold far fewer observations than the last time. */
  shrunken: string[];
  /** Series whose requests failed, while those of others did not. */
  failed: SeriesFailure[];
  /** Given when what failed may succeed before the next slot. */
  retry: Retry | undefined;
}

/** A body, and the series that it has or should have. */
export interface FetchedBody extends KnownBody {
  covers: readonly string[];
}

/** After so many requests in a row that met an outage, the provider is down: the rest is not asked for. */
const OUTAGES_MAX = 3;

/**
 * Fetches and parses all that a provider has to say. A request that fails takes only its own series with it. It is a
 * failure of the whole when no series is left, or when the run was stopped.
 */
export async function fetchProvider(
  provider: Provider,
  options: FetchProviderOptions,
): Promise<ProviderData | FetchFailure> {
  const missing = provider.needs.filter((name) => !options.secrets[name]);
  if (missing.length > 0) return failed(`it needs ${missing.join(' and ')} to be set`);
  const waiting = requestsOf(provider, options);
  const session = new Session(provider, options, waiting);
  const fetched = new ProviderDataBuilder();
  const failures = new FetchFailures(provider);
  let outages = 0;
  for (let request = waiting.shift(); request; request = waiting.shift()) {
    const failure = await session.ask(request, fetched);
    if (options.signal.aborted) return failure ?? failed('it was stopped');
    options.onProgress(session.asked, session.asked + waiting.length);
    outages = failure?.isOutage ? outages + 1 : 0;
    if (!failure) continue;
    failures.add(request, failure);
    if (outages < OUTAGES_MAX && failure.comeBackMs === undefined) continue;
    for (const other of waiting)
      failures.add(other, { ...failure, reason: `not asked for: ${failure.reason}` });
    break;
  }
  if (failures.ofAll) return failures.ofAll;
  return fetched.result(failures);
}

/** All history of the series that failed before: what they missed may be older than what is asked for now. */
function requestsOf(provider: Provider, { secrets, since, failing }: FetchProviderOptions): FeedRequest[] {
  const wanted = (request: FeedRequest) => seriesOf(provider, request).length > 0;
  const requests = provider.requests(secrets, since).filter(wanted);
  if (since === undefined || failing.length === 0) return requests;
  const ofAll = provider.requests(secrets).filter(wanted);
  const same = (one: FeedRequest, other: FeedRequest) =>
    seriesOf(provider, one).join() === seriesOf(provider, other).join();
  return requests.map((request) => {
    const hasFailed = seriesOf(provider, request).some((id) => failing.includes(id));
    return (hasFailed && ofAll.find((other) => same(request, other))) || request;
  });
}

/** Asks a provider, and remembers what it was asked for in this run. */
class Session {
  readonly #provider: Provider;
  readonly #options: FetchProviderOptions;
  readonly #waiting: FeedRequest[];
  readonly #hosts: ReadonlySet<string>;
  readonly #asked = new Set<string>();

  constructor(provider: Provider, options: FetchProviderOptions, waiting: FeedRequest[]) {
    this.#provider = provider;
    this.#options = options;
    this.#waiting = waiting;
    this.#hosts = new Set([
      ...waiting.map((request) => new URL(sentTo(request, options.baseUrl)).host),
      ...(options.baseUrl === undefined ? (provider.hosts ?? []) : []),
    ]);
  }

  get asked(): number {
    return this.#asked.size;
  }

  /** Undefined when its body was fetched, and the request for more, if there is one, put first in the queue. */
  async ask(request: FeedRequest, fetched: ProviderDataBuilder): Promise<FetchFailure | undefined> {
    const { secrets, baseUrl } = this.#options;
    const url = sentTo(request, baseUrl);
    if (this.#asked.has(url)) return failed('it goes in circles: a body asks for one that was there before');
    if (this.#asked.size === REQUESTS_MAX)
      return failed(`it asks for more than ${REQUESTS_MAX} bodies in one run`);
    this.#asked.add(url);
    const hash = urlHash(url, secrets);
    const known = this.#options.known.get(hash);
    const kind = request.body ?? this.#provider.body;
    const ask = { ...this.#options, url, hosts: this.#hosts, kind, ...validatorsOf(known) };
    const answer = await fetchBody(ask, this.#options.runtime, this.#options.limits);
    if (answer.outcome === 'failed') return answer;
    const covers = seriesOf(this.#provider, request);
    if (answer.outcome === 'unchanged') {
      fetched.keep(known!, covers);
      return undefined;
    }
    const parsed = parse(this.#provider, answer.body, request);
    if ('outcome' in parsed) return parsed;
    const shrinkage = shrinkageOf(parsed, known);
    const isWhole = covers.length === this.#provider.series.length;
    if (shrinkage !== undefined && !isWhole && !this.#options.accept) return failed(shrinkage);
    if (parsed.next) this.#waiting.unshift(parsed.next);
    // A body that leads to more is always asked for in full: were it unchanged, the rest would never be found.
    const validators = parsed.next ? noValidators : validatorsOf(answer);
    fetched.take(answer.body, placed(parsed, request), { ...validators, urlHash: hash, covers }, known);
    return undefined;
  }
}

/** Remarks with the series that they are about, where a body is of one and does not say so. */
function placed(parsed: Parsed, { series }: FeedRequest): Parsed {
  if (series === undefined) return parsed;
  const place = ({ where, reason }: RefusedValue): RefusedValue => ({
    where: where.startsWith(series) ? where : `${series} ${where}`,
    reason,
  });
  const { refused, odd = [], ignored = [] } = parsed;
  return { ...parsed, refused: refused.map(place), odd: odd.map(place), ignored: ignored.map(place) };
}

type Validators = Pick<KnownBody, 'etag' | 'lastModified'>;

const noValidators: Validators = { etag: undefined, lastModified: undefined };

function validatorsOf(of: Validators | undefined): Validators {
  return of ? { etag: of.etag, lastModified: of.lastModified } : noValidators;
}

/** Where a request is sent: the provider itself knows nothing of mirrors. */
function sentTo(request: FeedRequest, baseUrl: string | undefined): string {
  if (baseUrl === undefined) return request.url;
  const base = new URL(baseUrl);
  const { pathname, search } = new URL(request.url);
  return `${base.origin}${base.pathname.replace(/\/$/, '')}${pathname}${search}`;
}

function parse(provider: Provider, body: Uint8Array, request: FeedRequest): Parsed | FetchFailure {
  try {
    return provider.parse(body, request);
  } catch (error) {
    return failed(`the body could not be read: ${messageOf(error)}`);
  }
}

function failed(reason: string): FetchFailure {
  return { outcome: 'failed', reason };
}

/** Fewer than half of what was there the last time is a body that was cut, where there was enough to compare. */
const SHRINK = 0.5;
const COMPARED_FROM = 10;

/** Why a body looks as if it had been cut. One of a single series fails with it; one of all is for the operator to see. */
function shrinkageOf({ observations }: Pick<Parsed, 'observations'>, before: KnownBody | undefined) {
  const earlier = before?.observations ?? 0;
  if (earlier < COMPARED_FROM || observations.length >= earlier * SHRINK) return undefined;
  return `${observations.length} observations where ${earlier} were there the last time`;
}

class ProviderDataBuilder {
  readonly #result: ProviderData = {
    outcome: 'fetched',
    observations: [],
    missing: 0,
    refused: [],
    odd: [],
    ignored: [],
    bodyHash: undefined,
    bytes: 0,
    requests: 0,
    kept: 0,
    unchanged: new Set(),
    bodies: [],
    incomplete: new Set(),
    shrunken: [],
    failed: [],
    retry: undefined,
  };
  readonly #hasher = new Bun.CryptoHasher('sha256');

  keep(known: KnownBody, covers: readonly string[]): void {
    this.#result.requests++;
    this.#result.kept++;
    this.#result.unchanged.add(known.urlHash);
    this.#result.bodies.push({ ...known, covers });
  }

  take(
    body: Uint8Array,
    { observations, missing, refused, odd = [], ignored = [], complete = false }: Parsed,
    validators: Omit<FetchedBody, 'observations'>,
    before: KnownBody | undefined,
  ): void {
    const result = this.#result;
    this.#hasher.update(body);
    result.requests++;
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
    // What is absent from the pages that were read may be on one that was not.
    for (const failure of series) this.#result.incomplete.add(failure.series);
    this.#result.retry = retry;
    if (this.#result.bytes > 0) this.#result.bodyHash = this.#hasher.digest('hex');
    return this.#result;
  }
}
