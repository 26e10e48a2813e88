import type { Bar } from '../market/bar.ts';
import type { Day } from '../market/day.ts';
import type { BodyKind } from './formats/body.ts';

/** One series of a provider and the symbol it is the price of. */
export interface ProvidedSeries {
  /** The provider's own name for it, for example DCOILWTICO. */
  id: string;
  /** The code of the symbol in the catalogue. */
  symbol: string;
  /** What one price of the symbol is: `USD` per `Bbl`, as in the catalogue. */
  currency: string;
  unit: string;
  /**
   * What a number of the provider is multiplied by, once, to be in the symbol's unit; 1 where it already is. A parse
   * leaves the provider's own numbers: the runner multiplies (`mapObservations`).
   */
  factor?: number;
  /** What one number of the provider is, where that is not the symbol's own: cents, or dollars per kilogram. */
  published?: { currency: string; unit: string };
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
  /** It may hold a key: it is never logged as it is. */
  url: string;
  /** The series that the body is of, where the body itself does not say. */
  series?: string;
  /** The series that the body has, where it has some of the provider's and not all. */
  covers?: readonly string[];
  /** What this body is, where it is not the provider's usual kind: the page that leads to a workbook is `html`. */
  body?: BodyKind;
}

/** One price of one series, on one day. */
export interface Observation extends Bar {
  series: string;
}

/**
 * What a body says. For each series the days are unique and ascending. A series that the provider does not map may be
 * among them: it has no symbol, and is not stored.
 */
export interface Parsed {
  observations: Observation[];
  /** Days on which the provider has no value. Missing is never zero. */
  missing: number;
  /** What could not be used, and why. */
  refused: { where: string; reason: string }[];
  /** What was taken and looks wrong: bars whose low or high does not hold the open and close. */
  odd?: { where: string; reason: string }[];
  /** What was left out as it should be, and why: a bar that is still forming. */
  ignored?: { where: string; reason: string }[];
  /** Where the provider says that there is more, the request for it. */
  next?: FeedRequest;
  /**
   * Whether the body has everything that the provider publishes of its series, from the first day in it to the last: a
   * value that an earlier edition had there and this one has not was withdrawn. Pages of one edition all say so. A body
   * that may have been truncated, or is known to have holes, does not.
   */
  complete?: boolean;
}

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
  /**
   * What its series are: prices of symbols, unless it says `currencies`: units of a currency per 1 EUR, with the
   * currency's code as id. Their symbols are the hidden ones that conversions read.
   */
  readonly fills?: 'symbols' | 'currencies';
  /** Hosts that a body may lead to, beside those of `requests`. */
  readonly hosts?: readonly string[];
  /** Settings it cannot do without, such as OPENPIT_FRED_API_KEY. */
  readonly needs: readonly string[];
  /**
   * The first requests of a run; a body may ask for more. `since` is the first day that is wanted, 60 days back at
   * most: a provider that can asks for little more than that. Without it, all history.
   */
  requests(secrets: Secrets, since?: Day): readonly FeedRequest[];
  /** Throws with a plain reason when the body as a whole is not what it should be. */
  parse(body: Uint8Array, request: FeedRequest): Parsed;
}
