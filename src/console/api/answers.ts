/** The responses that the page reads. */

export interface OhlcRecord {
  open: number;
  high: number;
  low: number;
  close: number;
}

export interface ChartBar extends OhlcRecord {
  /** YYYY-MM-DD */
  date: string;
}

export interface MarketSymbol {
  symbol: string;
  category: string;
  name: string;
  currency: { code: string; name: string; symbol: string };
  unit: { symbol: string; name: string };
  status: 'active' | 'deprecated';
  updateInterval: 'minute' | 'day' | 'week' | 'month';
  /** What a formula computes, with or without a name. */
  formula?: string;
  firstDate: string | null;
  lastDate: string | null;
}

/** The newest price of a symbol in the market view. */
export interface Quote {
  rate: number;
  /** The trade date of the rate. */
  date: string;
  at: string;
  source: string;
  stale: boolean;
  /** Whether the market of the symbol is open. */
  open: boolean;
  /** The close before that day. */
  before: { date: string; close: number } | null;
}

export interface MarketAnswer {
  symbols: (MarketSymbol & { quote: Quote | null; closes?: number[] })[];
  /** The formulas that have a code of their own. */
  formulas: MarketSymbol[];
  /** The symbol of every other code and ticker. */
  aliases: Record<string, string>;
}

export interface QuotesAnswer {
  quotes: Record<string, Quote>;
}

export interface PlanRecord {
  name: string;
  quota: number;
  delaySeconds: number;
  maxSymbols: number;
  maxSpanDays: number;
  burstPerSecond: number;
  /** Whether it includes long history. */
  history: boolean;
}

/** A plan as the operator sees it. */
export interface AdminPlan extends Omit<PlanRecord, 'maxSpanDays'> {
  /** null: the limit of the interface version. */
  maxSpanDays: number | null;
}

export interface KeyRecord {
  id: string;
  /** May be empty. */
  name: string;
  status: 'active' | 'expired' | 'revoked';
  createdAt: number;
  expiresAt: number | null;
  allowedIps: string[] | null;
  headerOnly: boolean;
  /** In lists: when it last paid for an answer. */
  lastUsedAt?: number | null;
}

export interface AccountAnswer {
  account: { id: string; name: string; status: string };
  plan: PlanRecord;
  key: KeyRecord;
}

export interface UsageAnswer {
  plan: string;
  quota: number;
  used: number;
  remaining: number;
  resetAt: number;
}

export interface UsageDayRecord {
  date: string;
  endpoint: string;
  count: number;
}

export interface UsageDailyAnswer {
  /** Present if counts are missing, because a replica or the ledger did not respond in time. */
  exact?: false;
  startDate: string;
  endDate: string;
  days: UsageDayRecord[];
  byKey: { date: string; key: string; endpoint: string; count: number }[];
  events: { percent: number; used: number; quota: number; at: number }[];
}

export interface IssuedAnswer {
  apiKey: string;
  key: KeyRecord;
}

export interface ConfigAnswer {
  version: string;
  /** How a command line of the service starts: `openpit` or `npx openpit`. */
  command: string;
  simulated: boolean;
  /** Whether no market is open. */
  closed: boolean;
  admin: boolean;
  given?: { kind: 'demo' | 'public'; key: string };
}

export interface FeedsAnswer {
  feeds: { key: string; licence: 'yes' | 'attribution' | 'no'; attribution: string; licenceUrl: string }[];
}
