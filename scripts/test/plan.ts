/** What runs in one `bun test` process. */
export interface Job {
  files: readonly string[];
  /** Environment variables. */
  settings: Record<string, string>;
  /** Estimated from an earlier run. */
  seconds: number;
  /** Whether nothing else may run at the same time. */
  isAlone: boolean;
}

/** How long each test file took beside others, in seconds, if that was long; see `times.ts`. */
export type FileSeconds = Readonly<Record<string, number>>;

/** Short files share a process: starting one takes 0.4 s of CPU time, most of it for loading the source. */
const JOB_SECONDS_MAX = 50;
const JOB_FILES_MAX = 50;
const UNLISTED_SECONDS = 0.5;
/** A file that starts the program or a browser. */
const UNLISTED_SLOW_SECONDS = 30;
const SLOW = new Bun.Glob('test/{process,browser,client}/**');

/** What tests the program as a process tests the single-file build: that is what ships. */
const PROCESS = 'test/process/**';
/** Tests of how long something takes. Few and short: while one runs, nothing else does. */
const ALONE = new Bun.Glob('test/process/alone/**');
/** These also run on `Bun.serve`, on SQLite only. */
const ON_BUN_SERVE = 'test/{api,security}/**';
/** Except tests of what a response says or of memory: both are determined before a response reaches the server. */
const NOT_ON_BUN_SERVE =
  'test/api/{catalog/**,history/**,ledger-reads/**,market/**,parquet/content.test.ts,visibility/**,caching/cache-memory.test.ts}';
const BUN_SERVE = { OPENPIT_HTTP: 'bun', OPENPIT_TEST_ENGINES: 'sqlite' };
/** These also test the program started from source. */
const FROM_SOURCE = 'test/process/starting/{start,processes,heartbeat}.test.ts';
/** Rules, API and contract tests on SQLite, security. What starts PostgreSQL in any case or fills caches is left out. */
const QUICK = '{src/**,scripts/**,test/*,test/{api,security}/**,test/contract/**}';
const NOT_QUICK =
  '{test/contract/{failover/**,move/**,hung-connections.test.ts,stale-plans.test.ts,tick-reads.test.ts},test/api/caching/cache-memory.test.ts,src/ledger/engine/postgres/connections.test.ts,src/feeds/thread/stop.test.ts}';

export function findTestFiles(): string[] {
  return [...new Bun.Glob('{src,scripts,test}/**/*.test.{ts,tsx}').scanSync()].sort();
}

/** Every test. `settings` name what is made once for all jobs; `program` is the single-file build. */
export function planAll(
  files: readonly string[],
  times: FileSeconds,
  settings: Record<string, string>,
  program: string,
): Job[] {
  const isProcess = (file: string) => new Bun.Glob(PROCESS).match(file);
  return longestFirst([
    ...group(files.filter(isProcess), times, { ...settings, OPENPIT_TEST_PROGRAM: program }),
    ...group(matching(files, FROM_SOURCE), times, settings),
    ...group(excluding(matching(files, ON_BUN_SERVE), NOT_ON_BUN_SERVE), times, {
      ...settings,
      ...BUN_SERVE,
    }),
    ...group(
      files.filter((file) => !isProcess(file)),
      times,
      settings,
    ),
  ]);
}

export function planQuick(files: readonly string[], times: FileSeconds): Job[] {
  const quick = excluding(matching(files, QUICK), NOT_QUICK);
  return longestFirst(group(quick, times, { OPENPIT_TEST_ENGINES: 'sqlite' }));
}

function matching(files: readonly string[], pattern: string): string[] {
  const glob = new Bun.Glob(pattern);
  return files.filter((file) => glob.match(file));
}

function excluding(files: readonly string[], pattern: string): string[] {
  const glob = new Bun.Glob(pattern);
  return files.filter((file) => !glob.match(file));
}

/** Neighbouring files share a job, up to a limit. */
function group(files: readonly string[], times: FileSeconds, settings: Record<string, string>): Job[] {
  const jobs: (Job & { files: string[] })[] = [];
  for (const file of files) {
    const seconds = times[file] ?? (SLOW.match(file) ? UNLISTED_SLOW_SECONDS : UNLISTED_SECONDS);
    const isAlone = ALONE.match(file);
    const last = jobs.at(-1);
    if (
      last?.isAlone === isAlone &&
      last.seconds + seconds <= JOB_SECONDS_MAX &&
      last.files.length < JOB_FILES_MAX
    ) {
      last.files.push(file);
      last.seconds += seconds;
    } else jobs.push({ files: [file], settings, seconds, isAlone });
  }
  return jobs;
}

/** So that no long job is left to the end, when the other workers have nothing to do. */
function longestFirst(jobs: readonly Job[]): Job[] {
  return jobs.toSorted((a, b) => b.seconds - a.seconds);
}
