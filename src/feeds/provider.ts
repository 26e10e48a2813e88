import type { Bar } from '../market/bar.ts';

/** One series of a provider and the symbol it is the price of. */
export interface ProvidedSeries {
  /** The provider's own name for it, for example DCOILWTICO. */
  id: string;
  /** The code of the symbol in the catalogue. */
  symbol: string;
  /** What one number of the provider is: `USD` per `Bbl`. It must be the symbol's own unit and currency. */
  currency: string;
  unit: string;
  /** What a number of the provider is multiplied by, once, to be in the symbol's unit; 1 where it already is. */
  factor?: number;
}

/** What may be done with a provider's prices. What may not be passed on is off until the operator turns it on. */
export interface Licence {
  redistribution: 'yes' | 'attribution' | 'no';
  /** The line that must stand beside the prices. */
  attribution: string;
  url: string;
}

/** One request that the runner makes. Everything about the network is the runner's: a provider only says what it wants. */
export interface FeedRequest {
  url: string;
  /** The series that the body is of, where the body itself does not say. */
  series?: string;
  /** What this body is, where it is not the provider's usual kind: a landing page before the file. */
  body?: BodyKind;
}

/** One price of one series, on one day. */
export interface Observation extends Bar {
  series: string;
}

/** What a body says. */
export interface Parsed {
  observations: Observation[];
  /** Days on which the provider has no value. Missing is never zero. */
  missing: number;
  /** What could not be used, and why. */
  refused: { where: string; reason: string }[];
  /** Where the provider says that there is more, the request for it. */
  next?: FeedRequest;
}

/** What kind of body is expected; HTML where CSV was expected is a failure, whatever the status says. */
export type BodyKind = 'csv' | 'json' | 'xml' | 'xlsx' | 'zip' | 'html';

/** The words of the environment that a provider may need, such as its API key. */
export type Secrets = Readonly<Record<string, string | undefined>>;

/** A source of prices: its settings as data, and a pure parse. */
export interface Provider {
  /** Short and stable: `fred`. It is the source of its prices in metadata. */
  readonly key: string;
  readonly title: string;
  readonly licence: Licence;
  /** When it is run: a cron expression on the clock of `zone`. */
  readonly schedule: string;
  readonly zone: string;
  readonly body: BodyKind;
  readonly series: readonly ProvidedSeries[];
  /** Hosts beside those of its first requests that a redirect, or a request for more, may go to. */
  readonly hosts?: readonly string[];
  /** Settings it cannot do without, such as OPENPIT_FRED_API_KEY. */
  readonly needs: readonly string[];
  /** The first requests of a run; a body may ask for more. */
  requests(secrets: Secrets): readonly FeedRequest[];
  /** Throws with a plain reason when the body as a whole is not what it should be. */
  parse(body: Uint8Array, request: FeedRequest): Parsed;
}
