import { parseExact } from './decimals.ts';
import { HistoryPages } from './history.ts';
import type { CallOptions, CompleteResponse, Query, RequestOptions } from './options.ts';
import { requireSuccess, TEXT_TABLE_TYPE, Transport } from './transport.ts';
import type {
  Capabilities,
  ConversionParameters,
  DryRun,
  Fluctuation,
  Historical,
  History,
  HistoryParameters,
  Latest,
  PastParameters,
  Statistics,
  StreamRate,
  Symbols,
  TimeSeries,
  Usage,
} from './types.ts';

export interface OpenpitOptions<D extends Decimals = 'number'> {
  /** Where the service is: `https://rates.example.org`. In a browser, the page's own origin if omitted. */
  url?: string | undefined;
  /** The API key. */
  key?: string | undefined;
  /** The version of the interface, which becomes the base path. Hosted services have one, too. */
  version?: 'v1' | 'v2' | 'v3' | undefined;
  /** `'string'` returns prices with exactly the published digits. */
  decimals?: D | undefined;
  /** Timeout of one attempt, in ms; 30,000 if omitted. */
  timeoutMs?: number | undefined;
  /** How often a call is retried where that cannot cost a unit twice; 4 if omitted. */
  retries?: number | undefined;
  /** The longest wait that the service may ask for before a retry, in seconds; 60 if omitted. */
  waitSecondsMax?: number | undefined;
}

export type Decimals = 'number' | 'string';
type PriceOf<D extends Decimals> = D extends 'string' ? string : number;

/** Codes, or formulas such as `{RB-FUT}*42-{WTIOIL-FUT}`. */
export type SymbolCodes = readonly string[];

/** Symbols and the first and last day, as YYYY-MM-DD. */
export interface Range {
  symbols: SymbolCodes;
  from: string;
  to: string;
}

export interface StreamCallOptions extends Pick<CallOptions, 'signal'> {
  /** Called for parameters that have no effect. */
  onWarning?: ((message: string) => void) | undefined;
}

/** A client of an Openpit service, or of a hosted service with the same interface. */
export class Openpit<D extends Decimals = 'number'> {
  readonly #transport: Transport;
  readonly #isExact: boolean;

  constructor(options: OpenpitOptions<D> = {}) {
    const page = (globalThis as { location?: { origin: string } }).location;
    const { url = page?.origin, key, version, decimals } = options;
    const { timeoutMs = 30_000, retries = 4, waitSecondsMax = 60 } = options;
    if (url === undefined) throw new TypeError('The option "url" is missing.');
    const path = version === undefined ? '' : `/${version}`;
    const root = url.replace(/\/+$/, '');
    this.#transport = new Transport({
      base: root.endsWith(path) ? root : root + path,
      key,
      timeoutMs,
      retries,
      waitSecondsMax,
    });
    this.#isExact = decimals === 'string';
  }

  /** All symbols. */
  symbols(options?: CallOptions): Promise<Symbols> {
    return this.get('/symbols', {}, options);
  }

  /** The newest price of each symbol. */
  latest(
    symbols: SymbolCodes,
    parameters: ConversionParameters = {},
    options?: CallOptions,
  ): Promise<Latest<PriceOf<D>>> {
    return this.#prices('/rates/latest', { symbols, ...parameters }, options);
  }

  /** Open, high, low and close of one day. */
  historical(
    symbols: SymbolCodes,
    date: string,
    parameters: PastParameters = {},
    options?: CallOptions,
  ): Promise<Historical<PriceOf<D>>> {
    return this.#prices('/rates/historical', { symbols, date, ...parameters }, options);
  }

  /** Open, high, low and close of every day of a range. */
  timeSeries(range: Range & PastParameters, options?: CallOptions): Promise<TimeSeries<PriceOf<D>>> {
    return this.#prices('/rates/time-series', rangeQuery(range), options);
  }

  /** The change between two days. */
  fluctuation(range: Range & PastParameters, options?: CallOptions): Promise<Fluctuation<PriceOf<D>>> {
    return this.#prices('/rates/fluctuation', rangeQuery(range), options);
  }

  /** Statistics of the closes of a range, and the correlations of the symbols. */
  statistics(range: Range & PastParameters, options?: CallOptions): Promise<Statistics<PriceOf<D>>> {
    return this.#prices('/rates/statistics', rangeQuery(range), options);
  }

  /** Prices by day, week, month, quarter or year over any range, page by page. */
  history(range: Range & HistoryParameters, options?: CallOptions): HistoryPages<PriceOf<D>> {
    const query = rangeQuery(range);
    return new HistoryPages((cursor) =>
      this.#prices<History<PriceOf<D>>>('/rates/history', { ...query, cursor }, options),
    );
  }

  /** The newest price of each symbol, now and whenever it changes. Each connection costs a unit, and each hundred events. */
  async *stream(
    symbols: SymbolCodes,
    { signal, onWarning }: StreamCallOptions = {},
  ): AsyncGenerator<StreamRate<PriceOf<D>>, void, undefined> {
    const { readStream } = await import('./stream.ts'); // so that bundles can load it on demand
    yield* readStream({
      transport: this.#transport,
      url: this.#transport.url('/rates/stream', { symbols }),
      signal,
      parse: (text) => this.#parse(text) as StreamRate<PriceOf<D>>,
      onWarning,
    });
  }

  /** Plan, quota and usage of the month. Free. */
  usage(options?: CallOptions): Promise<Usage> {
    return this.get('/usage', {}, options);
  }

  /** What the key may do. Free. */
  capabilities(options?: CallOptions): Promise<Capabilities> {
    return this.get('/account/capabilities', {}, options);
  }

  /** What a request would cost, and whether it would be admitted. Free. */
  dryRun(path: string, query: Query, options?: CallOptions): Promise<DryRun> {
    return this.get(path, { ...query, dryRun: true }, options);
  }

  /** Any other path of the service. A table of CSV or NDJSON is a string, and one of Parquet an `ArrayBuffer`. */
  async get<T>(path: string, query?: Query, options?: CallOptions): Promise<T> {
    const response = await this.#transport.request(path, query, options);
    const type = response.headers.get('content-type') ?? '';
    if (TEXT_TABLE_TYPE.test(type)) return (await response.text()) as T;
    if (type.includes('parquet')) return (await response.arrayBuffer()) as T;
    return JSON.parse(await jsonOf(response));
  }

  /** Any other request: with another method, for a file, or for its headers. */
  request(path: string, query?: Query, options?: RequestOptions): Promise<CompleteResponse> {
    return this.#transport.request(path, query, options);
  }

  async #prices<T>(path: string, query: Query, options: CallOptions | undefined): Promise<T> {
    return this.#parse(await jsonOf(await this.#transport.request(path, query, options))) as T;
  }

  #parse(text: string): unknown {
    return this.#isExact ? parseExact(text) : JSON.parse(text);
  }
}

async function jsonOf(response: Response): Promise<string> {
  const text = await response.text();
  requireSuccess(response, text);
  return text;
}

function rangeQuery({ from, to, ...rest }: Range & HistoryParameters): Query {
  return { ...rest, startDate: from, endDate: to };
}
