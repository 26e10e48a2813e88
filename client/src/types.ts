// Generated from docs/openapi.json by `npm run docs`. Do not edit.

export interface Symbols {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  symbols: {
    symbol: string;
    category: string;
    name: string;
    currency: {
      code: string;
      name: string;
      symbol: string;
    };
    unit: {
      symbol: string;
      name: string;
    };
    status: 'active' | 'deprecated';
    updateInterval: 'minute' | 'day' | 'week' | 'month';
    /** Of a named formula: what it computes */
    formula?: string;
    firstDate: string | null;
    lastDate: string | null;
  }[];
}

export interface Latest<N = number> {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  /** Seconds since 1970-01-01 UTC */
  timestamp: number;
  rates: Record<string, N>;
  /** Unit, currency and source of each symbol; omitted with metadata=false */
  metadata?: Record<
    string,
    {
      /** The symbol that was used, if the requested code is an alias */
      symbol?: string;
      /** The unit of the price, for example T.oz */
      unit: string;
      /** The currency of the price */
      quote: string;
      /** Where the price comes from; "simulated" prices are made up */
      source: string;
      /** The time of the price, or its day if it is a close */
      at: string;
      /** Whether the price is older than expected */
      stale: boolean;
      /** The factor that the published price was multiplied by */
      factor?: N;
    }
  >;
  /** In v2 and v3: the same as metadata */
  metaData?: Record<string, unknown>;
  /** Only in v3, with status 206: the unknown symbols of a request that names others as well */
  unresolved?: Record<
    string,
    {
      message: string;
    }
  >;
}

export interface Historical<N = number> {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  /** A day, YYYY-MM-DD */
  date: string;
  rates: Record<
    string,
    {
      open: N;
      high: N;
      low: N;
      close: N;
      /** In v2 and v3: the day that the record is from */
      date?: string;
    }
  >;
  /** Only in v3, with status 206: the unknown symbols of a request that names others as well */
  unresolved?: Record<
    string,
    {
      message: string;
    }
  >;
  /** Unit, currency and source of each symbol; omitted with metadata=false */
  metadata?: Record<
    string,
    {
      /** The symbol that was used, if the requested code is an alias */
      symbol?: string;
      /** The unit of the price, for example T.oz */
      unit: string;
      /** The currency of the price */
      quote: string;
      /** Where the price comes from; "simulated" prices are made up */
      source: string;
      /** A day, YYYY-MM-DD */
      date: string;
      /** The factor that the published price was multiplied by */
      factor?: N;
    }
  >;
}

export interface TimeSeries<N = number> {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  /** Only in v3, with status 206: the unknown symbols of a request that names others as well */
  unresolved?: Record<
    string,
    {
      message: string;
    }
  >;
  /** A day, YYYY-MM-DD */
  startDate: string;
  /** A day, YYYY-MM-DD */
  endDate: string;
  rates: Record<
    string,
    Record<
      string,
      {
        open: N;
        high: N;
        low: N;
        close: N;
      }
    >
  >;
  /** Unit, currency and source of each symbol; omitted with metadata=false */
  metadata?: Record<
    string,
    {
      /** The symbol that was used, if the requested code is an alias */
      symbol?: string;
      /** The unit of the price, for example T.oz */
      unit: string;
      /** The currency of the price */
      quote: string;
      /** Where the price comes from; "simulated" prices are made up */
      source: string;
      factors?: Record<string, N>;
    }
  >;
}

export interface Fluctuation<N = number> {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  /** Only in v3, with status 206: the unknown symbols of a request that names others as well */
  unresolved?: Record<
    string,
    {
      message: string;
    }
  >;
  /** A day, YYYY-MM-DD */
  startDate: string;
  /** A day, YYYY-MM-DD */
  endDate: string;
  rates: Record<
    string,
    {
      startRate: N;
      endRate: N;
      change: N;
      changePercent: N;
    }
  >;
  /** Unit, currency and source of each symbol; omitted with metadata=false */
  metadata?: Record<
    string,
    {
      /** The symbol that was used, if the requested code is an alias */
      symbol?: string;
      /** The unit of the price, for example T.oz */
      unit: string;
      /** The currency of the price */
      quote: string;
      /** Where the price comes from; "simulated" prices are made up */
      source: string;
      /** A day, YYYY-MM-DD */
      startDate: string;
      /** A day, YYYY-MM-DD */
      endDate: string;
      /** The factor that the published price was multiplied by */
      startFactor?: N;
      /** The factor that the published price was multiplied by */
      endFactor?: N;
    }
  >;
}

export interface History<N = number> {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  /** Only in v3, with status 206: the unknown symbols of a request that names others as well */
  unresolved?: Record<
    string,
    {
      message: string;
    }
  >;
  /** A day, YYYY-MM-DD; a UTC time for intervals shorter than a day */
  startDate: string;
  /** A day, YYYY-MM-DD; a UTC time for intervals shorter than a day */
  endDate: string;
  interval: 'minute' | '5min' | '15min' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';
  rates: {
    /** A day, YYYY-MM-DD; a UTC time for intervals shorter than a day */
    date: string;
    symbol: string;
    open: N;
    high: N;
    low: N;
    close: N;
    /** The factor that the published price was multiplied by */
    factor?: N;
    /** With transform=change: the exact difference */
    change?: N;
    /** With transform=percent */
    percent?: N;
    /** With transform=log */
    log?: N;
    /** With transform=index */
    index?: N;
    /** With moving: the mean of the last closes */
    moving?: N;
    /** The mean of the closes of the days, or of the minutes */
    average: N;
    /** The number of days, or of minutes, with a price */
    count: number;
  }[];
  /** Cursor of the next page; null on the last page */
  next: string | null;
  /** Unit, currency and source of each symbol; omitted with metadata=false */
  metadata?: Record<
    string,
    {
      /** The symbol that was used, if the requested code is an alias */
      symbol?: string;
      /** The unit of the price, for example T.oz */
      unit: string;
      /** The currency of the price */
      quote: string;
      /** Where the price comes from; "simulated" prices are made up */
      source: string;
    }
  >;
}

export interface Statistics<N = number> {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  /** Only in v3, with status 206: the unknown symbols of a request that names others as well */
  unresolved?: Record<
    string,
    {
      message: string;
    }
  >;
  /** A day, YYYY-MM-DD */
  startDate: string;
  /** A day, YYYY-MM-DD */
  endDate: string;
  statistics: Record<
    string,
    {
      /** The number of closes */
      count: number;
      last: N;
      /** A day, YYYY-MM-DD */
      lastDate: string;
      mean: N;
      median: N;
      /** Of the sample; absent for one close */
      standardDeviation?: N;
      /** Annualised, of log returns, as a fraction */
      volatility?: N;
      minimum: N;
      /** A day, YYYY-MM-DD */
      minimumDate: string;
      maximum: N;
      /** A day, YYYY-MM-DD */
      maximumDate: string;
      /** As a fraction of the peak */
      maximumDrawdown: N;
      /** A day, YYYY-MM-DD */
      peakDate?: string;
      /** A day, YYYY-MM-DD */
      troughDate?: string;
    }
  >;
  /** Of the log returns on common days, from -1 to 1; absent where it is not defined */
  correlation: Record<string, Record<string, N>>;
  /** Unit, currency and source of each symbol; omitted with metadata=false */
  metadata?: Record<
    string,
    {
      /** The symbol that was used, if the requested code is an alias */
      symbol?: string;
      /** The unit of the price, for example T.oz */
      unit: string;
      /** The currency of the price */
      quote: string;
      /** Where the price comes from; "simulated" prices are made up */
      source: string;
    }
  >;
}

export interface StreamRate<N = number> {
  symbol: string;
  /** The unit of the price, for example T.oz */
  unit: string;
  /** The currency of the price */
  quote: string;
  /** Where the price comes from; "simulated" prices are made up */
  source: string;
  rate: N;
  /** A day, YYYY-MM-DD */
  date: string;
  at: string;
}

export interface Usage {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  plan: string;
  quota: number;
  used: number;
  remaining: number;
  /** Seconds since 1970-01-01 UTC */
  resetAt: number;
  /** Present if the ledger or a replica did not respond in time: requests that it has not reported are not counted */
  exact?: false;
  /** With `exact: false`: when all replicas had last reported */
  asOf?: number;
}

export interface Capabilities {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  plan: string;
  /** How far behind real time the prices are */
  delaySeconds: number;
  symbols: {
    /** Number of symbols that /symbols lists */
    available: number;
    maxPerRequest: number;
    /** The same for /rates/statistics */
    maxPerStatistics: number;
  };
  span: {
    /** Days between the two dates of a time series, in this version */
    timeSeriesDays: number;
    /** The same for /rates/statistics; null: unlimited */
    statisticsDays: number | null;
  };
  /** What `format` accepts */
  formats: string[];
  history: {
    /** Whether the plan includes /rates/history, over any span */
    included: boolean;
    /** Rows in a page of JSON, and rows of a table per unit */
    rowsPerUnit: number;
  };
  streams: {
    allowed: boolean;
    /** Streams that the account may have open in each process */
    maxOpen: number;
    eventsPerUnit: number;
  };
  /** Null if several processes serve the account: another one may charge a repeated request again */
  idempotency: {
    /** How long a repeated request with the same `X-Request-Id: once-…` is free */
    keptSeconds: number;
    /** How long this process has stored responses; it does not recognize older requests */
    uptimeSeconds: number;
  } | null;
  burst: {
    perSecond: number;
  };
  /** Null for the shared key of the page, whose limits apply per address */
  quota: {
    /** Units per calendar month, in UTC */
    units: number;
    used: number;
    remaining: number;
    /** Seconds since 1970-01-01 UTC */
    resetAt: number;
  } | null;
  key: {
    id: string;
    /** What its owner calls it; may be empty */
    name: string;
    status: 'active' | 'expired' | 'revoked';
    /** Seconds since 1970-01-01 UTC */
    createdAt: number;
    expiresAt: number | null;
    allowedIps: string[] | null;
    headerOnly: boolean;
  };
}

/** The response to dryRun=true */
export interface DryRun {
  success: true;
  /** Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden */
  warnings?: string[];
  dryRun: true;
  /** Units that the request would cost */
  cost: number;
  /** Present if it may cost more: a stream, or a table that is read from the ledger */
  exact?: false;
  /** Whether the remaining quota covers it */
  admitted: boolean;
  /** Units that are left */
  remaining: number;
  /** When the quota resets */
  resetAt?: number;
  /** Why it would not be admitted */
  code?: 'quota_exhausted' | 'rate_limited';
  /** The same in words */
  message?: string;
  /** Only in v3, with status 206: the unknown symbols of a request that names others as well */
  unresolved?: Record<
    string,
    {
      message: string;
    }
  >;
}

/** Parameters of /rates/latest. */
export interface ConversionParameters {
  /** `false` omits the field `metadata`. */
  metadata?: boolean | undefined;
  /** The currency to convert to, at the ECB rate of the day. */
  quote?: string | undefined;
  /** The unit to convert to, for example kg. GET /units lists the units of a symbol. */
  unit?: string | undefined;
}

/** Parameters of /rates/historical. */
export interface PastParameters {
  /** `false` omits the field `metadata`. */
  metadata?: boolean | undefined;
  /** The currency to convert to, at the ECB rate of the day. */
  quote?: string | undefined;
  /** The unit to convert to, for example kg. GET /units lists the units of a symbol. */
  unit?: string | undefined;
  /** A point in time: an ISO time, or a day, which means its end in UTC. The response is what the service would have returned then. Such a request costs one unit whatever its result. */
  asOf?: string | undefined;
}

/** Parameters of /rates/history. */
export interface HistoryParameters {
  /** `false` omits the field `metadata`. */
  metadata?: boolean | undefined;
  /** The currency to convert to, at the ECB rate of the day. */
  quote?: string | undefined;
  /** The unit to convert to, for example kg. GET /units lists the units of a symbol. */
  unit?: string | undefined;
  /** The interval that prices are aggregated to; `day` if omitted. Those shorter than a day begin at whole UTC intervals, and a row has its time. */
  interval?: 'minute' | '5min' | '15min' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year' | undefined;
  /** Adds a field of this name to each row, computed from the closes: the change since `period` intervals earlier, the same in percent, the natural logarithm of the quotient, or an index that is 100 at the first row. */
  transform?: 'change' | 'percent' | 'log' | 'index' | undefined;
  /** How many intervals a change goes back; 1 if omitted. Days are days with a price; longer intervals are those of the calendar. */
  period?: number | undefined;
  /** Adds the field `moving`: the moving average of this many closes. */
  moving?: number | undefined;
  /** A point in time: an ISO time, or a day, which means its end in UTC. The response is what the service would have returned then. Such a request costs one unit whatever its result. */
  asOf?: string | undefined;
}

/** The codes of the service's errors. */
export type ErrorCode =
  | 'missing_parameter'
  | 'invalid_symbols'
  | 'too_many_symbols'
  | 'invalid_date'
  | 'date_in_future'
  | 'invalid_range'
  | 'range_too_long'
  | 'repeated_parameter'
  | 'invalid_body'
  | 'invalid_as_of'
  | 'invalid_unit'
  | 'invalid_parameter'
  | 'invalid_formula'
  | 'invalid_interval'
  | 'invalid_cursor'
  | 'invalid_format'
  | 'missing_key'
  | 'invalid_key'
  | 'invalid_admin_token'
  | 'account_suspended'
  | 'key_not_allowed'
  | 'history_not_in_plan'
  | 'not_found'
  | 'unknown_symbol'
  | 'unknown_currency'
  | 'no_data'
  | 'invalid_file'
  | 'not_there'
  | 'method_not_allowed'
  | 'conflict'
  | 'already_charged'
  | 'already_exists'
  | 'body_too_large'
  | 'invalid_visit'
  | 'uri_too_long'
  | 'invalid_byte_range'
  | 'rate_limited'
  | 'quota_exhausted'
  | 'internal'
  | 'unavailable';

/** What the later versions of the interface have in `error`. */
export type FamilyCode =
  | 'VALIDATION_ERROR'
  | 'API_KEY_NOT_FOUND'
  | 'LIMIT_REACHED'
  | 'DATA_NOT_FOUND'
  | 'SYMBOL_NOT_FOUND'
  | 'QUOTE_NOT_FOUND'
  | 'TOO_MANY_REQUESTS'
  | 'SERVER_ERROR';

/** Fields that stay numbers when prices are strings. */
export const INTEGER_FIELDS: readonly string[] = ['count', 'timestamp'];
