import type { CachedAnswer } from '../../cache/cached-answer.ts';
import type { DeferredAnswer } from '../../cache/deferred-answer.ts';
import type { Download } from '../../download/download.ts';
import type { ParquetAnswer } from '../../parquet/parquet-answer.ts';

/** An answer that is complete, one that is built once it is paid for, or one that is written while it is sent. */
export type PreparedAnswer = CachedAnswer | DeferredAnswer | Download | ParquetAnswer;
