import { ABUSE_ROWS } from './abuse-rows.ts';
import { clockSet } from './clock-set.ts';
import { cutCommit } from './cut-commit.ts';
import { killPostgres } from './kill-postgres.ts';
import { killSqlite } from './kill-sqlite.ts';
import { monthEnd } from './month-end.ts';
import { pause } from './pause.ts';
import type { Row } from './row.ts';

/** Every row of docs/reliability.md, in its order. */
export const ROWS: readonly Row[] = [
  killSqlite,
  killPostgres,
  cutCommit,
  pause,
  clockSet,
  monthEnd,
  ...ABUSE_ROWS,
];
