import { lackingSettings, type Provider } from '../../feeds/provider.ts';
import { runFeed } from '../../feeds/run/runner.ts';
import { lateAfter } from '../../feeds/schedule.ts';
import type { FeedRun } from '../../ledger/operations/feed-runs.ts';
import { printDay } from '../../market/day.ts';
import { nearestCodes } from '../../market/search/similar-codes.ts';
import { systemClock } from '../../runtime/clock.ts';
import {
  type Command,
  type CommandCall,
  JSON_FLAG,
  table,
  UsageError,
  wholeFlag,
} from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { enableAll } from './enable-all.ts';
import { diagnose } from './feed-doctor.ts';
import { setUrls } from './feed-set.ts';
import { hasSucceeded, ownRunnerParts, stageProgress } from './own-run.ts';
import { printPastRun, printRun, time } from './print-run.ts';

const RUNS_SHOWN = 20;

/** The commands for feeds; each feed is one of the providers. */
export function feedCommands(providers: readonly Provider[]): readonly Command[] {
  const find = (key: string): Provider => {
    const provider = providers.find((one) => one.key === key.toLowerCase());
    if (provider) return provider;
    const nearest = nearestCodes(
      key,
      providers.map((one) => one.key),
    );
    const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : '';
    throw new UsageError(`there is no feed ${key}.${hint} openpit feed list lists them.`);
  };
  return [
    {
      name: 'feed list',
      summary: 'List the feeds with their state, last run and next run',
      flags: JSON_FLAG,
      run: (call) => list(call, providers),
    },
    {
      name: 'feed run',
      createsLedger: 'where named',
      operands: ['KEY'],
      summary: 'Run a feed now, even if it is disabled',
      examples: ['feed run ecb'],
      flags: {
        'base-url': {
          value: 'URL',
          help: 'Fetch from this server instead of the provider, for example a mirror',
        },
        accept: { help: 'Accept the data even if it has far fewer prices, withdraws many, or looks wrong' },
        ...JSON_FLAG,
      },
      run: (call) => runNow(call, find(call.operands[0]!), providers),
    },
    {
      name: 'feed enable',
      createsLedger: 'where named',
      operands: ['[KEY]'],
      summary: 'Enable a feed: a running server runs it at once, then on its schedule',
      details:
        'With --all, every feed that needs no key and may be redistributed is enabled and run now. ' +
        'The report lists the symbols that have real prices, and what would supply the others.',
      examples: ['feed enable ecb', 'feed enable --all'],
      flags: { all: { help: 'Enable and run every feed that anybody may use' }, ...JSON_FLAG },
      async run(call) {
        const [key] = call.operands;
        if (call.isSet('all') === (key !== undefined)) throw new UsageError('name a feed, or use --all');
        await (key === undefined ? enableAll(call, providers) : enable(call, find(key)));
      },
    },
    {
      name: 'feed disable',
      operands: ['KEY'],
      summary: 'Disable a feed; its prices are kept',
      flags: JSON_FLAG,
      async run({ withLedger, operands, isSet }) {
        const { key } = find(operands[0]!);
        await withLedger((ledger) => ledger.feeds.disable(key));
        printLine(isSet('json') ? JSON.stringify({ key, enabled: false }) : `Feed ${key} is off.`);
      },
    },
    {
      name: 'feed set',
      createsLedger: 'where named',
      operands: ['KEY'],
      summary: "Show or replace the addresses of a feed's provider",
      examples: ['feed set ecb', 'feed set ecb --url https://mirror.example/eurofxref-hist.zip'],
      flags: {
        url: {
          value: '[NAME=]URL',
          multiple: true,
          help: 'The new address; NAME is needed if it is not the first. Repeat it for several addresses',
        },
        reset: { help: "Use the provider's own addresses again" },
        ...JSON_FLAG,
      },
      run: (call) => setUrls(call, find(call.operands[0]!)),
    },
    {
      name: 'feed doctor',
      operands: ['[KEY]'],
      summary:
        'Try the providers, and report what answered, how it differs from what was expected, and what to do',
      flags: JSON_FLAG,
      run: (call) =>
        diagnose(call, providers, call.operands[0] === undefined ? undefined : find(call.operands[0])),
    },
    {
      name: 'feed history',
      operands: ['[KEY]'],
      summary: 'Show the latest runs of one feed or of all feeds, with the reasons for refused prices',
      flags: { limit: { value: 'N', help: `Maximum number of runs (${RUNS_SHOWN})` }, ...JSON_FLAG },
      run: (call) => history(call, call.operands[0] === undefined ? undefined : find(call.operands[0]).key),
    },
  ];
}

async function list(
  { config, withLedger, isSet }: CommandCall,
  providers: readonly Provider[],
): Promise<void> {
  const known = await withLedger((ledger) => ledger.feeds.health(systemClock.now()));
  const feeds = providers.map((provider) => {
    const health = known.find((one) => one.key === provider.key);
    const { key, title, schedule, zone, licence } = provider;
    const lacking = lackingSettings(provider, config.secrets);
    return { key, title, schedule, zone, licence, lacking, enabled: false, late: false, ...health };
  });
  if (isSet('json')) return printLine(JSON.stringify(feeds.map(withTimes)));
  const head = ['feed', 'state', 'last run', 'result', 'next run', 'days', 'gaps', 'until', 'title'];
  const rows = feeds.map((feed) => [
    feed.key,
    feed.late ? 'late' : feed.enabled ? 'on' : 'off',
    time(feed.lastRun?.started),
    feed.lastRun?.status ?? '-',
    time(feed.nextRunAt),
    String(feed.days ?? 0),
    String(feed.gaps ?? 0),
    feed.lastDay === undefined ? '-' : printDay(feed.lastDay),
    feed.lacking.length === 0 ? feed.title : `${feed.title} (needs ${feed.lacking.join(', ')})`,
  ]);
  printLine(table([head, ...rows]));
  for (const { key, failing = [] } of feeds) {
    for (const { series, reason, since } of failing)
      printLine(`  ${key} ${series} has been failing since ${time(since)}: ${reason}`);
  }
}

/** Converts times to ISO text. */
function withTimes(feed: {
  lastRun?: { started: number } | undefined;
  lastOkAt?: number | undefined;
  nextRunAt?: number | undefined;
}) {
  const iso = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const { lastRun, lastOkAt, nextRunAt, ...rest } = feed;
  const run = lastRun === undefined ? null : { ...lastRun, started: iso(lastRun.started) };
  return { ...rest, lastRun: run, lastOkAt: iso(lastOkAt), nextRunAt: iso(nextRunAt) };
}

async function enable({ config, withLedger, isSet }: CommandCall, provider: Provider): Promise<void> {
  const { key, licence } = provider;
  const now = systemClock.now();
  await withLedger((ledger) => ledger.feeds.enable(key, now, lateAfter(provider, now)));
  const lacking = lackingSettings(provider, config.secrets);
  if (isSet('json')) return printLine(JSON.stringify({ key, enabled: true, licence, lacking }));
  printLine(`Feed ${key} is on. ${licence.attribution} (${licence.url})`);
  if (licence.redistribution === 'no') {
    printLine('You may not redistribute its prices without a licence of your own.');
  }
  if (lacking.length > 0)
    printLine(`It requires ${lacking.join(', ')}, which is not set here; set it for the server.`);
}

async function runNow(call: CommandCall, provider: Provider, providers: readonly Provider[]): Promise<void> {
  const baseUrl = call.flag('base-url');
  if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new UsageError(`--base-url must be a URL such as https://mirror.example (received "${baseUrl}")`);
  }
  const result = await call.withLedger(async (ledger) => {
    const show = stageProgress();
    const options = {
      ...(baseUrl === undefined ? {} : { baseUrl }),
      accept: call.isSet('accept'),
      onProgress: (what: string, done: number, total: number) =>
        show(`${provider.key}: ${what}`, done, total),
    };
    return runFeed(provider, ownRunnerParts(ledger, providers, call.config.secrets), options);
  });
  if (!result)
    throw new Error(`another process is running the feed ${provider.key}; try again in three minutes`);
  if (call.isSet('json')) printLine(JSON.stringify(result));
  else printRun(provider.key, result);
  if (hasSucceeded(result.status)) return;
  const advice =
    result.status === 'failed' && baseUrl === undefined
      ? `; openpit feed doctor ${provider.key} says what to change`
      : '';
  throw new Error(`feed ${provider.key} ${result.status}: ${result.message}${advice}`);
}

async function history(call: CommandCall, key: string | undefined): Promise<void> {
  const limit = wholeFlag(call, 'limit', 1, 1_000) ?? RUNS_SHOWN;
  const runs = await call.withLedger((ledger) => ledger.feeds.history(limit, key));
  if (call.isSet('json')) return printLine(JSON.stringify(runs.map(withRunTimes)));
  if (runs.length === 0) return printLine('No runs yet.');
  for (const run of runs) printPastRun(run);
}

function withRunTimes(run: FeedRun) {
  const { started, ended } = run;
  const end = ended === undefined ? null : new Date(ended).toISOString();
  return { ...run, started: new Date(started).toISOString(), ended: end };
}
