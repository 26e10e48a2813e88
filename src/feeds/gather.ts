import type { KnownBody, Refusal } from '../ledger/feed-runs.ts';
import { messageOf } from '../log.ts';
import type { Day } from '../market/day.ts';
import { type Failure, fetchBody, type Limits, type Surroundings } from './fetcher.ts';
import type { FeedRequest, Observation, Parsed, Provider, Secrets } from './provider.ts';
import { urlHash } from './secrets.ts';

/** A provider that asks for more requests than this in one run is going in circles. */
const REQUESTS_MAX = 500;

export interface GatherOptions {
  secrets: Secrets;
  /** The first day that is wanted; undefined for all history. */
  since: Day | undefined;
  /** Stands in for scheme and host of every request: a mirror, or a test. */
  baseUrl: string | undefined;
  known: ReadonlyMap<string, KnownBody>;
  around: Surroundings;
  limits: Limits;
  signal: AbortSignal;
  onAttempt(): Promise<void>;
  /** So many requests of so many, as far as is known, are done. */
  onProgress(done: number, total: number): void;
}

/** Everything that a run got, before any of it is believed. */
export interface Gathered {
  outcome: 'gathered';
  observations: Observation[];
  missing: number;
  refused: Refusal[];
  odd: Refusal[];
  ignored: Refusal[];
  bodyHash: string | undefined;
  bytes: number;
  requests: number;
  /** Requests whose body has not changed since it was taken in. */
  kept: number;
  /** To be kept when the run has succeeded. */
  bodies: KnownBody[];
  /** The series that some body has holes in, or may have. */
  incomplete: Set<string>;
  /** Bodies that hold far fewer observations than the last time. */
  shrunken: string[];
}

/** Fetches and parses all that a provider has to say. A failure anywhere is a failure of the whole. */
export async function gather(provider: Provider, options: GatherOptions): Promise<Gathered | Failure> {
  const { secrets, baseUrl } = options;
  const missing = provider.needs.filter((name) => !secrets[name]);
  if (missing.length > 0) return failed(`it needs ${missing.join(' and ')} to be set`);
  const waiting = provider.requests(secrets, options.since).filter((request) => isWanted(provider, request));
  const hosts = new Set([
    ...waiting.map((request) => new URL(sentTo(request, baseUrl)).host),
    ...(baseUrl === undefined ? (provider.hosts ?? []) : []),
  ]);
  const gathered = new Gathering();
  const asked = new Set<string>();
  for (let request = waiting.shift(); request; request = waiting.shift()) {
    const url = sentTo(request, baseUrl);
    if (asked.has(url)) return failed('it goes in circles: a body asks for one that was there before');
    if (asked.size === REQUESTS_MAX) return failed(`it asks for more than ${REQUESTS_MAX} bodies in one run`);
    asked.add(url);
    const hash = urlHash(url, secrets);
    const known = options.known.get(hash);
    const kind = request.body ?? provider.body;
    const ask = { ...options, url, hosts, kind, ...validatorsOf(known) };
    const answer = await fetchBody(ask, options.around, options.limits);
    if (answer.outcome === 'failed') return answer;
    if (answer.outcome === 'unchanged') gathered.keep(known!);
    else {
      const parsed = parse(provider, answer.body, request);
      if ('outcome' in parsed) return parsed;
      if (parsed.next) waiting.unshift(parsed.next);
      // A body that leads to more is always asked for in full: were it unchanged, the rest would never be found.
      const validators = parsed.next ? noValidators : validatorsOf(answer);
      gathered.take(answer.body, placed(parsed, request), { ...validators, urlHash: hash }, known);
    }
    options.onProgress(asked.size, asked.size + waiting.length);
  }
  return gathered.result();
}

/** A body of one series is asked for only when the series is wanted. */
function isWanted(provider: Provider, { series }: FeedRequest): boolean {
  return series === undefined || provider.series.some(({ id }) => id === series);
}

/** Remarks with the series that they are about, where a body is of one and does not say so. */
function placed(parsed: Parsed, { series }: FeedRequest): Parsed {
  if (series === undefined) return parsed;
  const place = ({ where, reason }: Refusal): Refusal => ({
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

function parse(provider: Provider, body: Uint8Array, request: FeedRequest): Parsed | Failure {
  try {
    return provider.parse(body, request);
  } catch (error) {
    return failed(`the body could not be read: ${messageOf(error)}`);
  }
}

function failed(reason: string): Failure {
  return { outcome: 'failed', reason };
}

/** Fewer than half of what was there the last time is a body that was cut, where there was enough to compare. */
const SHRINK = 0.5;
const COMPARED_FROM = 10;

class Gathering {
  readonly #result: Gathered = {
    outcome: 'gathered',
    observations: [],
    missing: 0,
    refused: [],
    odd: [],
    ignored: [],
    bodyHash: undefined,
    bytes: 0,
    requests: 0,
    kept: 0,
    bodies: [],
    incomplete: new Set(),
    shrunken: [],
  };
  readonly #hasher = new Bun.CryptoHasher('sha256');

  keep(known: KnownBody): void {
    this.#result.requests++;
    this.#result.kept++;
    this.#result.bodies.push(known);
  }

  take(
    body: Uint8Array,
    { observations, missing, refused, odd = [], ignored = [], complete = false }: Parsed,
    validators: Omit<KnownBody, 'observations'>,
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
    const earlier = before?.observations ?? 0;
    if (earlier >= COMPARED_FROM && observations.length < earlier * SHRINK) {
      result.shrunken.push(`${observations.length} observations where ${earlier} were there the last time`);
    }
  }

  result(): Gathered {
    if (this.#result.bytes > 0) this.#result.bodyHash = this.#hasher.digest('hex');
    return this.#result;
  }
}
