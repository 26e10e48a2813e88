export {
  type Decimals,
  Openpit,
  type OpenpitOptions,
  type Range,
  type StreamCallOptions,
  type SymbolCodes,
} from './client.ts';
export {
  ConnectionLost,
  type ErrorDetails,
  InvalidKey,
  InvalidRequest,
  NotAllowed,
  NotFound,
  OpenpitError,
  QuotaExhausted,
  RateLimited,
  Unavailable,
} from './errors.ts';
export type { HistoryPages } from './history.ts';
export type { CallOptions, CancelSignal, CompleteResponse, Query, RequestOptions } from './options.ts';
export type * from './types.ts';
