import { type Day, MS_PER_DAY, printDay } from '../../market/day.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { seriesOf } from '../fetch/failures.ts';
import { FETCH_LIMITS, type FetchFailure, fetchBody } from '../fetch/http-client.ts';
import { withoutSecrets } from '../fetch/redact.ts';
import type { Runtime } from '../fetch/runtime.ts';
import type { FeedRequest, Parsed, Provider, Secrets } from '../provider.ts';

/** The result of trying a provider. `changed`: its response is not what Openpit expects. */
export type Verdict = 'ok' | 'unreachable' | 'gone' | 'refused' | 'changed';

export interface Diagnosis {
  verdict: Verdict;
  /** The address that was tried, or where it went wrong, without secrets. */
  url: string;
  /** The response, and how it differs from what was expected. */
  found: string[];
  /** What to change; empty if nothing. */
  advice: string[];
}

export interface ProbeParts {
  secrets: Secrets;
  runtime: Runtime;
  signal: AbortSignal;
}

/** How far back prices are requested. Monthly prices may be months old. */
const SINCE_DAYS = 200;
/** Bodies that are tried for each provider, more than any has, and pages that are followed from one of them. */
const REQUESTS_MAX = 50;
const PAGES_MAX = 2;
const LIMITS = { ...FETCH_LIMITS, attempts: 1, timeoutMs: 20_000 };

const TRY_LATER =
  'The provider has a problem, or limits requests. Try again later; an enabled feed does so by itself.';

interface Failure {
  request: FeedRequest;
  failure: FetchFailure;
}

interface FailedAddress extends Failure {
  /** The name of the provider's address that the failed request, or its first page, was built from. */
  address: string;
}

/** Tries what a run would request, and compares the bodies with what is expected. Writes nothing. */
export async function probe(provider: Provider, parts: ProbeParts): Promise<Diagnosis> {
  const since = Math.floor(parts.runtime.now() / MS_PER_DAY) - SINCE_DAYS;
  const requests = requestsOf(provider, parts.secrets, since);
  const bodies: Parsed[] = [];
  const answered: FeedRequest[] = [];
  const failures: FailedAddress[] = [];
  for (const request of requests) {
    const result = await read(provider, request, parts);
    if ('failure' in result) failures.push({ ...result, address: addressOf(provider, request) });
    else {
      bodies.push(...result.bodies);
      answered.push(request);
    }
    if (failures.at(-1)?.failure.isOutage) break; // the others are on the same host
  }
  const clean = (text: string) => withoutSecrets(text, parts.secrets);
  const describe = describer(provider, clean);
  const [worst] = failures;
  const url = clean((worst?.request ?? requests[0])?.url ?? '');
  const found = failures.slice(0, 3).map(describe);
  if (failures.length > 3) found.push(`and ${failures.length - 3} more`);
  const missing = absent(provider, bodies, answered);
  const remarks = bodies.flatMap(({ refused }) => refused).slice(0, 3);
  found.push(...contents(provider, bodies));
  if (missing.length > 0) found.push(`without ${missing.join(', ')}`);
  for (const { where, reason } of remarks) found.push(clean(`${where}: ${reason}`));
  const verdict = worst
    ? verdictOf(worst.failure)
    : missing.length > 0 || remarks.length > 0
      ? 'changed'
      : 'ok';
  const isDown = worst?.failure.isOutage && worst.failure.status !== undefined;
  const address = worst?.address ?? addressOf(provider, requests[0]!);
  const advice = isDown ? [TRY_LATER] : adviceFor(provider, address, verdict, missing);
  return { verdict, url, found, advice };
}

/** What a run requests, and what a first run requests from other addresses: all history of the ECB has its own. */
function requestsOf(provider: Provider, secrets: Secrets, since: Day): FeedRequest[] {
  const recent = provider.requests(secrets, since);
  const addresses = new Set(recent.map((request) => addressOf(provider, request)));
  const first = provider.requests(secrets).filter((request) => !addresses.has(addressOf(provider, request)));
  return [...recent, ...first].slice(0, REQUESTS_MAX);
}

/** The name of the address whose part before the first brace is the longest that the URL begins with. */
function addressOf({ urls }: Provider, { url }: FeedRequest): string {
  const fixedPart = (name: string) => urls[name]!.split('{')[0]!;
  const names = Object.keys(urls);
  const [best] = names
    .filter((name) => url.startsWith(fixedPart(name)))
    .sort((a, b) => fixedPart(b).length - fixedPart(a).length);
  return best ?? names[0]!;
}

type ReadResult = { bodies: Parsed[] } | Failure;

async function read(provider: Provider, first: FeedRequest, parts: ProbeParts): Promise<ReadResult> {
  const hosts = new Set([new URL(first.url).host, ...(provider.hosts ?? [])]);
  const bodies: Parsed[] = [];
  let next: FeedRequest | undefined = first;
  for (let page = 0; next && page < PAGES_MAX; page++) {
    const request: FeedRequest = next;
    const kind = request.body ?? provider.body;
    const onAttempt = async () => {};
    const options = { url: request.url, hosts, kind, etag: undefined, lastModified: undefined, onAttempt };
    const result = await fetchBody({ ...options, signal: parts.signal }, parts.runtime, LIMITS);
    if (result.outcome === 'failed') return { request, failure: result };
    if (result.outcome === 'unchanged') return { bodies };
    try {
      const parsed = provider.parse(result.body, request);
      bodies.push(parsed);
      next = parsed.next;
    } catch (error) {
      return { request, failure: { outcome: 'failed', reason: messageOf(error) } };
    }
  }
  return { bodies };
}

function describer({ urls, title }: Provider, clean: (text: string) => string) {
  const hasOneAddress = Object.keys(urls).length === 1;
  return ({ request, address, failure: { reason, excerpt } }: FailedAddress): string => {
    const name = request.series ?? (hasOneAddress ? undefined : address);
    const start = excerpt ? `; it starts with "${excerpt}"` : '';
    return clean(`${name === undefined ? '' : `${name}: `}${reason}${start}`) || title;
  };
}

function verdictOf({ isOutage, status }: FetchFailure): Verdict {
  if (isOutage) return 'unreachable';
  if (status === 404 || status === 410) return 'gone';
  if (status === 401 || status === 403) return 'refused';
  return 'changed';
}

/** How many series the bodies have, and their newest day. */
function contents({ series }: Provider, bodies: readonly Parsed[]): string[] {
  const seen = seenSeries(series, bodies);
  if (seen.size === 0) return [];
  let newest: Day = Number.NEGATIVE_INFINITY;
  for (const { observations } of bodies) for (const { day } of observations) newest = Math.max(newest, day);
  return [`${seen.size} of ${series.length} series, the newest price of ${printDay(newest)}`];
}

/** Series that the bodies of the answered requests should have had. */
function absent(provider: Provider, bodies: readonly Parsed[], answered: readonly FeedRequest[]): string[] {
  if (bodies.length === 0) return [];
  const seen = seenSeries(provider.series, bodies);
  // Currencies that stopped long ago are not in a recent body.
  if (provider.fills === 'currencies') return seen.has('USD') ? [] : ['USD'];
  const expected = new Set(answered.flatMap((request) => seriesOf(provider, request)));
  return [...expected].filter((id) => !seen.has(id));
}

function seenSeries(series: Provider['series'], bodies: readonly Parsed[]): Set<string> {
  const ids = new Set(series.map(({ id }) => id));
  const seen = new Set<string>();
  for (const { observations } of bodies)
    for (const one of observations) if (ids.has(one.series)) seen.add(one.series);
  return seen;
}

function adviceFor(
  { key, licence, series }: Provider,
  address: string,
  verdict: Verdict,
  missing: readonly string[],
): string[] {
  const set = `openpit feed set ${key} --url ${address}=ADDRESS`;
  if (verdict === 'unreachable')
    return [`Check the network of this machine. If the provider has moved: ${set}`];
  if (verdict === 'gone') return [`The address has changed. Find the new one (${licence.url}), then: ${set}`];
  if (verdict === 'refused') return [`Check the provider's key and terms (${licence.url}).`];
  if (verdict === 'ok') return [];
  const symbols = series.filter(({ id }) => missing.includes(id)).map(({ symbol }) => symbol);
  const affected = symbols.length > 0 ? ` for ${symbols.join(', ')}` : '';
  return [
    `If the data is now at another address: ${set}`,
    `If its format or names have changed, update Openpit; until then, load files${affected} with openpit import.`,
  ];
}
