import { ABUSE_SCALES } from './abuse/abuse-scales.ts';

/**
 * The scale of each row: in CI, where the whole set has three minutes, and at full scale by `npm run faults`. Everything
 * that makes a row longer or harder is in this file.
 */
export const SCALES = {
  'kill-sqlite': { ci: { kills: 5, connections: 16 }, full: { kills: 100, connections: 32 } },
  'kill-postgres': {
    ci: { rounds: 1, quota: 3_000, kills: 3 },
    full: { rounds: 3, quota: 10_000, kills: 20 },
  },
  'cut-commit': {
    ci: { cuts: 20, connections: 8, pauseMs: 10 },
    full: { cuts: 300, connections: 16, pauseMs: 0 },
  },
  pause: { ci: { pauseMs: 3_000, quota: 2_000 }, full: { pauseMs: 75_000, quota: 20_000 } },
  'clock-set': { ci: { delaySeconds: 2 }, full: { delaySeconds: 30 } },
  'month-end': {
    ci: { connections: 4, seconds: 2, pauseMs: 10 },
    full: { connections: 16, seconds: 20, pauseMs: 0 },
  },
  'disk-full': {
    ci: { seconds: 4, connections: 4, pauseMs: 10 },
    full: { seconds: 90, connections: 8, pauseMs: 0 },
  },
  'cut-files': {
    ci: { writes: 4, everyBytes: 701, spools: 2 },
    full: { writes: 3, everyBytes: 1, spools: 30 },
  },
  'bad-feeds': {
    ci: {
      responses: ['HTML as JSON', 'truncated JSON', 'far fewer prices', 'other unit', 'endless'],
      pauseMs: 10,
    },
    full: { responses: ['all'], pauseMs: 0 },
  },
  'late-feed': { ci: { days: 5 }, full: { days: 30 } },
  races: { ci: { days: 10, writes: 5 }, full: { days: 200, writes: 100 } },
  secrets: {
    ci: { rounds: 1, signals: ['SIGABRT'] },
    full: { rounds: 10, signals: ['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGTERM', 'SIGKILL'] },
  },
  'ledger-unreachable': { ci: { awayMs: 5_000 }, full: { awayMs: 20_000 } },
  'corrupt-page': { ci: { requests: 50 }, full: { requests: 1_000 } },
  'feeds-failing': { ci: { pauseMs: 100 }, full: { pauseMs: 20 } },
  race: { ci: { replicas: 3, runs: 1, quota: 2_000 }, full: { replicas: 10, runs: 10, quota: 10_000 } },
  'database-away': { ci: { awayMs: 3_000 }, full: { awayMs: 30_000 } },
  'black-hole': { ci: { awayMs: 3_000 }, full: { awayMs: 30_000 } },
  'slow-database': { ci: { awayMs: 2_000 }, full: { awayMs: 30_000 } },
  'failover-synchronous': { ci: { quota: 600, awayMs: 1_000 }, full: { quota: 3_000, awayMs: 5_000 } },
  'failover-asynchronous': {
    ci: { quota: 600, awayMs: 1_000, lostMs: 2_000 },
    full: { quota: 3_000, awayMs: 5_000, lostMs: 5_000 },
  },
  'standby-hangs': { ci: { awayMs: 7_000 }, full: { awayMs: 45_000 } },
  'rolling-restarts': { ci: { restarts: 3 }, full: { restarts: 50 } },
  spread: { ci: { ticks: 5, keys: 2 }, full: { ticks: 200, keys: 40 } },
  soak: { ci: { minutes: 0.15, isJudged: false }, full: { minutes: 10, isJudged: true } },
  ...ABUSE_SCALES,
} as const satisfies Record<string, { ci: object; full: object }>;

export type ScaleName = 'ci' | 'full';

/** The tolerance for promised times, as a factor: CI shares its machine with others. */
export const SLACK: Readonly<Record<ScaleName, number>> = { ci: 8, full: 1 };
export type RowName = keyof typeof SCALES;

/** The numbers of one row, at either scale. */
export type ScaleOf<Name extends RowName> = Widened<(typeof SCALES)[Name]['ci']>;

type Widened<T> = {
  readonly [K in keyof T]: T[K] extends number
    ? number
    : T[K] extends boolean
      ? boolean
      : T[K] extends readonly string[]
        ? readonly string[]
        : T[K];
};
