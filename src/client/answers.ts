/** What is known about a price besides its number. */
export interface PriceMetadata {
  unit: string;
  /** The currency; `none` for a ratio. */
  quote: string;
  /** What the published price was multiplied by; absent if it is the published one. */
  factor?: number;
  source: string;
  /** The moment of the price, for the latest one. */
  at?: string;
  /** The day of the price, for one of the past. */
  date?: string;
  /** Whether a newer price is overdue. */
  stale?: boolean;
}

type BySymbol<T> = Readonly<Record<string, T>>;

export interface PriceBar {
  open: number;
  high: number;
  low: number;
  close: number;
}

export interface SymbolsAnswer {
  symbols: readonly ListedSymbol[];
}

export interface ListedSymbol {
  symbol: string;
  name: string;
  category: string;
  currency: { code: string };
  unit: { symbol: string; name: string };
  status: string;
  updateInterval: string;
  firstDate: string | null;
  lastDate: string | null;
  /** How it is computed, if it is a formula. */
  formula?: string;
}

export interface LatestAnswer {
  timestamp: number;
  rates: BySymbol<number>;
  metadata: BySymbol<PriceMetadata>;
}

export interface HistoricalAnswer {
  date: string;
  rates: BySymbol<PriceBar>;
  metadata: BySymbol<PriceMetadata>;
}

export interface FluctuationAnswer {
  rates: BySymbol<{ startRate: number; endRate: number }>;
  metadata: BySymbol<PriceMetadata & { startDate: string; endDate: string }>;
}

export interface HistoryRow extends PriceBar {
  date: string;
  /** As in the metadata, for a currency whose exchange rate differs from day to day. */
  factor?: number;
  symbol: string;
  average: number;
  count: number;
}

export interface HistoryAnswer {
  rates: readonly HistoryRow[];
  /** The cursor of the next page. */
  next: string | null;
  metadata: BySymbol<PriceMetadata>;
  /** Why it may lack what was asked for. */
  warnings?: readonly string[];
}

export interface SymbolStatistics {
  count: number;
  last: number;
  lastDate: string;
  mean: number;
  median: number;
  standardDeviation?: number;
  /** Annualised, as a fraction. */
  volatility?: number;
  minimum: number;
  minimumDate: string;
  maximum: number;
  maximumDate: string;
  /** As a fraction of the peak. */
  maximumDrawdown: number;
  peakDate?: string;
  troughDate?: string;
}

export interface StatisticsAnswer {
  startDate: string;
  endDate: string;
  statistics: BySymbol<SymbolStatistics>;
  correlation: BySymbol<BySymbol<number | null>>;
  metadata: BySymbol<PriceMetadata>;
}

export interface MonthlyUsage {
  plan: string;
  quota: number;
  used: number;
  remaining: number;
  /** In seconds. */
  resetAt: number;
}
