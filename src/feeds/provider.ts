import type { Bar } from '../market/bar.ts';
import type { Day } from '../market/day.ts';
import type { BodyKind } from './formats/body.ts';

/** A series of a provider, and the symbol whose price it is. */
export interface ProvidedSeries {
  /** The provider's own name for it, for example DCOILWTICO. */
  id: string;
  /** The code of the symbol in the catalogue. */
  symbol: string;
  /** What the symbol is quoted in: `USD` per `Bbl`, as in the catalogue. */
  currency: string;
  unit: string;
  /**
   * Converts the provider's unit to the symbol's; default 1. `parse` returns the provider's own numbers; the runner
   * multiplies them (`mapObservations`).
   */
  factor?: number;
  /** What the provider quotes in, if not in the symbol's unit: cents, or dollars per kilogram. */
  published?: { currency: string; unit: string };
  /** How the provider labels the unit, if the label is misleading: the World Bank's `$/dmtu` is per tonne. */
  label?: string;
}

/** The terms of a provider's prices. A feed that may not be redistributed is off until the operator enables it. */
export interface Licence {
  redistribution: 'yes' | 'attribution' | 'no';
  /** Must be shown with the prices. */
  attribution: string;
  url: string;
}

/** A request for the runner to send. Providers do no I/O. */
export interface FeedRequest {
  /** May contain an API key: never log it unredacted. */
  url: string;
  /** The series in the body, if the body does not name it. */
  series?: string;
  /** The series in the body, if it does not contain all of the provider's. */
  covers?: readonly string[];
  /** The kind of this body, if it is not the provider's default: a landing page is `html`. */
  body?: BodyKind;
}

/** One price of one series, on one day. */
export interface Observation extends Bar {
  series: string;
}

/**
 * The contents of a body. The days of each series are unique and ascending. Series that the provider does not map are allowed,
 * but not stored.
 */
export interface Parsed {
  observations: Observation[];
  /** Days on which the provider has no value. Missing is never zero. */
  missing: number;
  /** Unusable rows, and why. */
  refused: { where: string; reason: string }[];
  /** Inconsistent bars, whose open or close lies outside of low and high. They are published. */
  odd?: { where: string; reason: string }[];
  /** Rows skipped on purpose, and why: a bar that is still forming. */
  ignored?: { where: string; reason: string }[];
  /** The request for the next page, if there is one. */
  next?: FeedRequest;
  /**
   * Whether the body has all days that the provider publishes between the first and the last: a day that an earlier edition
   * had was then withdrawn. Set it on every page of an edition. Do not set it for a body that may be truncated or have
   * gaps.
   */
  complete?: boolean;
}

/** Settings from the environment that a provider may need, such as its API key. */
export type Secrets = Readonly<Record<string, string | undefined>>;

/** A source of prices: its settings as data, and a pure parse. */
export interface Provider {
  /** Short and stable, such as `fred`. The `source` of its prices in metadata. */
  readonly key: string;
  readonly title: string;
  readonly licence: Licence;
  /** A cron expression in the time zone `zone`. */
  readonly schedule: string;
  readonly zone: string;
  readonly body: BodyKind;
  readonly series: readonly ProvidedSeries[];
  /**
   * Prices of symbols, by default. `currencies` are units of a currency per 1 EUR, with the currency's code as id; they fill
   * hidden symbols that conversions read.
   */
  readonly fills?: 'symbols' | 'currencies';
  /** Addresses by name, with parts in braces that requests fill in. The operator can replace them. */
  readonly urls: Readonly<Record<string, string>>;
  /** Further hosts that bodies may lead to, besides those of `requests`. */
  readonly hosts?: readonly string[];
  /** Names of settings without which it cannot run, such as OPENPIT_FRED_API_KEY. */
  readonly requiredSettings: readonly string[];
  /**
   * The first requests of a run; a body may lead to more. `since` is the first day to fetch, at most 60 days ago; providers that
   * cannot limit the range ignore it. Without it, all history.
   */
  requests(secrets: Secrets, since?: Day): readonly FeedRequest[];
  /** Throws an error with a readable reason if the whole body is unusable. */
  parse(body: Uint8Array, request: FeedRequest): Parsed;
}

/** The provider, with the addresses that the operator has replaced. */
export function withUrls(provider: Provider, replaced: Readonly<Record<string, string>>): Provider {
  return { ...provider, urls: { ...provider.urls, ...replaced } };
}

/** Required settings that are missing. */
export function lackingSettings({ requiredSettings }: Provider, secrets: Secrets): string[] {
  return requiredSettings.filter((name) => !secrets[name]);
}
