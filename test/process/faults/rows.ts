import { ABUSE_ROWS } from './abuse-rows.ts';
import { killSqlite } from './kill-sqlite.ts';
import type { Row } from './row.ts';

/** Every row of docs/reliability.md, in its order. */
export const ROWS: readonly Row[] = [killSqlite, ...ABUSE_ROWS];
