import { FETCH_LIMITS } from '../../feeds/fetch/http-client.ts';
import type { Provider } from '../../feeds/provider.ts';
import type { RunnerParts } from '../../feeds/run/context.ts';
import { runFeed } from '../../feeds/run/runner.ts';
import { lateAfter } from '../../feeds/schedule.ts';
import { isFree, type MissingSupply, type Supply, supplyOf } from '../../feeds/supply.ts';
import type { FeedRun, RunReport } from '../../ledger/operations/feed-runs.ts';
import { printDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import { plural } from '../../runtime/plural.ts';
import { type CommandCall, table } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { hasSucceeded, ownRunnerParts, stageProgress } from './own-run.ts';

/** What a run of one feed brought. */
interface FeedOutcome {
  key: string;
  status: RunReport['status'];
  message: string | undefined;
  taken: number;
  unchanged: number;
}

/** How long another process may take for a run, and how often to check. */
const WAIT_MS = 180_000;
const POLL_MS = 500;

/** Enables every feed that anybody may use, runs each, and reports what is real now. */
export async function enableAll(call: CommandCall, providers: readonly Provider[]): Promise<void> {
  const { secrets } = call.config;
  const free = providers.filter((provider) => isFree(provider, secrets));
  const { outcomes, supply } = await call.withLedger(async (ledger) => {
    const parts: RunnerParts = {
      ...ownRunnerParts(ledger, providers, secrets),
      limits: { ...FETCH_LIMITS, attempts: 2 }, // a user is waiting; a server tries again later
    };
    const now = systemClock.now();
    for (const provider of free) await ledger.feeds.enable(provider.key, now, lateAfter(provider, now));
    const ran: FeedOutcome[] = [];
    for (const provider of free) {
      if (parts.signal.aborted) break;
      const outcome = await runOne(provider, parts, now);
      ran.push(outcome);
      if (!call.isSet('json')) printLine(line(outcome));
    }
    return { outcomes: ran, supply: await supplyOf(ledger, providers, secrets) };
  });
  if (call.isSet('json')) printLine(JSON.stringify({ feeds: outcomes, ...printable(supply) }));
  else printSupply(supply);
  const failed = outcomes.filter(({ status }) => !hasSucceeded(status));
  if (failed.length === 0) return;
  if (failed.length === outcomes.length && failed.every(({ message }) => isOffline(message))) {
    throw new Error(
      'no provider could be reached. Without a network, "openpit sample load" loads the real history that comes with the program',
    );
  }
  throw new Error(
    `${failed.map(({ key }) => key).join(', ')} failed; "openpit feed doctor" shows why. The other feeds are on`,
  );
}

/** Runs a feed, or waits for a server that has started the run first. */
async function runOne(provider: Provider, parts: RunnerParts, since: number): Promise<FeedOutcome> {
  const { key } = provider;
  const show = stageProgress();
  const result = await runFeed(provider, parts, {
    onProgress: (what, done, total) => show(`${key}: ${what}`, done, total),
  });
  if (result) return { ...picked(result), key };
  for (let waited = 0; waited < WAIT_MS && !parts.signal.aborted; waited += POLL_MS) {
    const [run] = await parts.ledger.feeds.history(1, key);
    if (run && run.started >= since && run.status !== 'running') return { ...picked(run), key };
    await parts.runtime.sleep(POLL_MS, parts.signal);
  }
  const message = 'another process is still running it';
  return { key, status: 'running', message, taken: 0, unchanged: 0 };
}

function picked({ status, message, taken, unchanged }: RunReport | FeedRun): Omit<FeedOutcome, 'key'> {
  return { status, message, taken, unchanged };
}

/** Whether a run failed because nothing answered. */
function isOffline(message: string | undefined): boolean {
  return /could not be reached|connection failed|no complete response/.test(message ?? '');
}

function line({ key, status, message, taken, unchanged }: FeedOutcome): string {
  if (!hasSucceeded(status)) return `${key}: ${status}: ${message}`;
  const prices = taken > 0 ? plural(taken, 'new price') : `nothing new (${unchanged} known)`;
  return `${key}: ${prices}${status === 'partial' ? `; ${message}` : ''}`;
}

function printable({ real, missing }: Supply) {
  return { real: real.map(({ newest, ...one }) => ({ ...one, newest: printDay(newest) })), missing };
}

function printSupply({ real, missing }: Supply): void {
  printLine(`\n${plural(real.length, 'symbol')} with real prices:`);
  const rows = real.map(({ code, source, newest }) => [code, printDay(newest), source]);
  printLine(table([['symbol', 'newest', 'source'], ...rows]));
  const left = missing.reduce((sum, { symbols }) => sum + symbols.length, 0);
  if (left === 0) return;
  printLine(`\n${plural(left, 'symbol')} without, simulated in a demo. What would supply them:`);
  for (const one of missing) printLine(`- ${remedy(one)}: ${one.symbols.join(', ')}`);
}

function remedy({ feed, how, lacking }: MissingSupply): string {
  if (how === 'failing') return `the feed ${feed}, once it succeeds (openpit feed doctor ${feed})`;
  if (how === 'enable') return `openpit feed enable ${feed}`;
  if (how === 'key') return `a free key in ${lacking.join(' and ')}, then openpit feed enable ${feed}`;
  if (how === 'licence') return `a licence, then openpit feed enable ${feed}`;
  return 'your own prices (openpit import, or a push)';
}
