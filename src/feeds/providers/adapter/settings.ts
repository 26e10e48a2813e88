import type { ProvidedSeries, Provider } from '../../provider.ts';
import settings from '../providers.json' with { type: 'json' };

/** A series as `providers.json` lists it. */
export interface SeriesSettings extends ProvidedSeries {
  /** EIA: the part of the API that has it. */
  route?: string;
  /** World Bank: its names and codes in other editions. */
  also?: readonly string[];
}

/** What may change at a provider, as data: all of it is in `providers.json`. */
export interface ProviderSettings
  extends Pick<Provider, 'title' | 'licence' | 'schedule' | 'zone' | 'body' | 'requiredSettings' | 'urls'> {
  fills?: 'currencies';
  hosts?: readonly string[];
  /** The names of columns in all editions, by what they hold. */
  columns?: Readonly<Record<string, readonly string[]>>;
  series: readonly SeriesSettings[];
}

const SETTINGS = settings as unknown as Readonly<
  Record<string, Omit<ProviderSettings, 'series'> & { series: readonly (SeriesSettings | string)[] }>
>;

/** The settings of a provider. A series that is only a code is the exchange rate of a currency. */
export function settingsOf(key: string): ProviderSettings & { key: string } {
  const { series, ...rest } = SETTINGS[key]!;
  return { key, ...rest, series: series.map((one) => (typeof one === 'string' ? rateOf(one) : one)) };
}

/** Whether a column has one of the names that hold something. */
export function isColumn({ columns }: ProviderSettings, what: string, name: string | undefined): boolean {
  const plain = name?.toLowerCase();
  return columns![what]!.some((one) => one.toLowerCase() === plain);
}

/** An address, with the parts in braces filled in. */
export function urlFrom(template: string, parts: Readonly<Record<string, string>> = {}): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole);
}

/** Units of a currency for 1 EUR. */
function rateOf(code: string): SeriesSettings {
  return { id: code, symbol: `EUR/${code}`, currency: code, unit: 'EUR' };
}
