import type { KnownBody, RefusedValue } from '../../ledger/operations/feed-runs.ts';
import type { Day } from '../../market/day.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { type FeedRequest, lackingSettings, type Parsed, type Provider, type Secrets } from '../provider.ts';
import { FetchFailures, seriesOf } from './failures.ts';
import {
  type BodyRequest,
  type FetchFailure,
  type FetchLimits,
  type FetchResult,
  fetchBody,
} from './http-client.ts';
import { type ProviderData, ProviderDataBuilder, shrinkageOf } from './provider-data.ts';
import { urlHash } from './redact.ts';
import type { Runtime } from './runtime.ts';

/** More requests in one run mean that the provider's pages form a loop. */
const REQUESTS_MAX = 500;

export interface FetchProviderOptions {
  secrets: Secrets;
  /** The first day to fetch; undefined for all history. */
  since: Day | undefined;
  /** Replaces scheme and host of every request, for a mirror or a test. */
  baseUrl: string | undefined;
  known: ReadonlyMap<string, KnownBody>;
  /** Bodies from a file instead of the network. */
  archive?: Archive | undefined;
  /** Accepts bodies with far fewer observations than the last time. */
  accept: boolean;
  /** Series whose history is requested in full, also if their body has not changed. */
  wantedInFull: readonly string[];
  runtime: Runtime;
  limits: FetchLimits;
  signal: AbortSignal;
  onAttempt(): Promise<void>;
  /** Called before each URL is requested, however that ends. */
  onRequest(): void;
  /** `total` grows when a body leads to more requests. */
  onProgress(done: number, total: number): void;
}

/** An edition of a provider's bodies that is stored on this machine. */
export interface Archive {
  /** The date of the edition. */
  edition: string;
  read(request: FeedRequest): Promise<Uint8Array>;
}

/** After this many outages in a row the provider counts as down, and the remaining requests are skipped. */
const OUTAGES_MAX = 3;

/**
 * Fetches and parses everything from a provider. A failed request fails only its own series. The run fails if no series is
 * left, or if it was stopped.
 */
export async function fetchProvider(
  provider: Provider,
  options: FetchProviderOptions,
): Promise<ProviderData | FetchFailure> {
  const missing = lackingSettings(provider, options.secrets);
  if (missing.length > 0) return failed(`${missing.join(' and ')} must be set`);
  const queue = requestsOf(provider, options);
  const session = new Session(provider, options, queue);
  const fetched = new ProviderDataBuilder();
  const failures = new FetchFailures(provider);
  let outages = 0;
  for (let request = queue.shift(); request; request = queue.shift()) {
    const failure = await session.fetch(request, fetched);
    if (options.signal.aborted) return failure ?? failed('the run was stopped');
    options.onProgress(session.requested, session.requested + queue.length);
    outages = failure?.isOutage ? outages + 1 : 0;
    if (!failure) continue;
    failures.add(request, failure);
    if (outages < OUTAGES_MAX && failure.comeBackMs === undefined) continue;
    for (const other of queue)
      failures.add(other, { ...failure, reason: `not requested: ${failure.reason}` });
    break;
  }
  if (failures.ofAll) return failures.ofAll;
  return fetched.result(failures);
}

function requestsOf(
  provider: Provider,
  { secrets, since, wantedInFull }: FetchProviderOptions,
): FeedRequest[] {
  const wanted = (request: FeedRequest) => seriesOf(provider, request).length > 0;
  const requests = provider.requests(secrets, since).filter(wanted);
  if (since === undefined || wantedInFull.length === 0) return requests;
  const ofAll = provider.requests(secrets).filter(wanted);
  const same = (one: FeedRequest, other: FeedRequest) =>
    seriesOf(provider, one).join() === seriesOf(provider, other).join();
  return requests.map((request) => {
    const isPart = seriesOf(provider, request).some((id) => wantedInFull.includes(id));
    return (isPart && ofAll.find((other) => same(request, other))) || request;
  });
}

/** Sends the requests of one run, each URL once. */
class Session {
  readonly #provider: Provider;
  readonly #options: FetchProviderOptions;
  readonly #queue: FeedRequest[];
  readonly #hosts: ReadonlySet<string>;
  readonly #urls = new Set<string>();

  constructor(provider: Provider, options: FetchProviderOptions, queue: FeedRequest[]) {
    this.#provider = provider;
    this.#options = options;
    this.#queue = queue;
    this.#hosts = new Set([
      ...queue.map((request) => new URL(targetUrl(request, options.baseUrl)).host),
      ...(options.baseUrl === undefined ? (provider.hosts ?? []) : []),
    ]);
  }

  get requested(): number {
    return this.#urls.size;
  }

  /** Returns undefined on success, after queueing the request for the next page, if there is one. */
  async fetch(request: FeedRequest, fetched: ProviderDataBuilder): Promise<FetchFailure | undefined> {
    const { secrets, baseUrl } = this.#options;
    const url = targetUrl(request, baseUrl);
    if (this.#urls.has(url))
      return failed('the pages form a loop: a body leads to a URL that was fetched before');
    if (this.#urls.size === REQUESTS_MAX) return failed(`more than ${REQUESTS_MAX} requests in one run`);
    this.#urls.add(url);
    this.#options.onRequest();
    const hash = urlHash(url, secrets);
    const known = this.#options.known.get(hash);
    const kind = request.body ?? this.#provider.body;
    const covers = seriesOf(this.#provider, request);
    const isConditional = !covers.some((id) => this.#options.wantedInFull.includes(id));
    const before = isConditional ? validatorsOf(known) : noValidators;
    const result = await this.#read(request, { ...this.#options, url, hosts: this.#hosts, kind, ...before });
    if (result.outcome === 'failed') return result;
    if (result.outcome === 'unchanged') {
      fetched.keep(known!, covers);
      return undefined;
    }
    const parsed = parse(this.#provider, result.body, request);
    if ('outcome' in parsed) return parsed;
    const shrinkage = shrinkageOf(parsed, known);
    const isWhole = covers.length === this.#provider.series.length;
    if (shrinkage !== undefined && !isWhole && !this.#options.accept) return failed(shrinkage);
    if (parsed.next) this.#queue.unshift(parsed.next);
    // Never request a body with a next page conditionally: after a 304 the next page would not be found.
    const validators = parsed.next ? noValidators : validatorsOf(result);
    fetched.take(result.body, withPlaces(parsed, request), { ...validators, urlHash: hash, covers }, known);
    return undefined;
  }

  async #read(request: FeedRequest, bodyRequest: BodyRequest): Promise<FetchResult> {
    const { archive, runtime, limits } = this.#options;
    if (!archive) return fetchBody(bodyRequest, runtime, limits);
    return { outcome: 'body', body: await archive.read(request), etag: undefined, lastModified: undefined };
  }
}

/** Adds the series to the place of each remark, for a body of one series that does not name it. */
function withPlaces(parsed: Parsed, { series }: FeedRequest): Parsed {
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

/** The URL to contact. Providers know nothing of mirrors. */
function targetUrl(request: FeedRequest, baseUrl: string | undefined): string {
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
