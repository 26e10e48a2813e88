import { z } from 'zod';
import { ages, feedBasics, feedCoverage, success, text } from './parts.ts';

const moment = z.iso.datetime();
const remark = { where: text, reason: text };

const run = z.strictObject({
  number: z.int(),
  startedAt: moment,
  endedAt: moment.nullable(),
  status: z.enum(['running', 'ok', 'unchanged', 'partial', 'failed', 'quarantined']),
  message: text.nullable(),
  requests: z.int(),
  bytes: z.int(),
  taken: z.int(),
  corrected: z.int(),
  unchanged: z.int(),
  missing: z.int().describe('Days without a value'),
  refused: z.int(),
  odd: z.int(),
  ignored: z.int(),
  held: z.int().describe('Suspicious bars in quarantine'),
  withdrawn: z.int().describe('Days that the provider no longer publishes'),
  reasons: z.array(z.strictObject(remark)).describe('The first refused records, and why'),
  notes: z.array(
    z.strictObject({ kind: z.enum(['held', 'withdrawn', 'odd', 'ignored', 'elsewhere']), ...remark }),
  ),
});

/** Responses about the running service, for operators. */
export const OPERATOR_SCHEMAS = {
  Alarms: z.strictObject({
    success,
    complete: z
      .boolean()
      .describe('False if the alarms of other replicas are unknown because the ledger is down'),
    alarms: z.array(
      z.strictObject({
        name: text.describe('Such as `feed.late.fred`. Unique'),
        type: text.describe('Such as `feed.late`'),
        since: moment.nullable(),
        details: z.record(text, z.union([text, z.number()])).describe('As posted to the webhook'),
        processes: z.array(text).describe('Machine and process id of each process that reports it'),
      }),
    ),
  }),
  Replicas: z.strictObject({
    success,
    answering: z.strictObject({
      id: text,
      version: text,
      phase: z.enum(['starting', 'ready', 'draining']),
      simulated: z.boolean(),
      engine: z.enum(['sqlite', 'postgres']),
      revision: z.int(),
      behind: z.int(),
      ...ages,
      historyBytes: z.int(),
    }),
    newestRevision: z.int(),
    replicas: z
      .array(
        z.strictObject({
          id: text,
          name: text.describe('Machine and process id'),
          version: text,
          phase: z
            .enum(['starting', 'ready', 'draining', 'silent'])
            .describe('`silent`: no heartbeat for 15 s, because it died or cannot reach the ledger'),
          startedAt: z.iso.datetime(),
          revision: z.int(),
          behind: z.int().describe('Number of ledger revisions it has not followed yet'),
          silentSeconds: z.int().describe('Time since its last heartbeat'),
          accounts: z.int(),
          units: z.int().describe('Quota units leased to it'),
        }),
      )
      .describe('All processes that serve from this ledger'),
    holders: z.array(
      z.strictObject({ replica: text, accounts: z.int(), units: z.int(), silentSeconds: z.int() }),
    ),
  }),
  Pushed: z.strictObject({
    success,
    source: text,
    accepted: z.int(),
    corrected: z.int(),
    duplicate: z.int(),
    quarantined: z.int(),
    refused: z.int(),
    results: z.array(
      z.looseObject({ status: z.enum(['accepted', 'corrected', 'duplicate', 'quarantined', 'refused']) }),
    ),
  }),
  Quarantine: z.strictObject({
    success,
    ticks: z.array(
      z.strictObject({
        id: z.int(),
        symbol: text,
        source: text,
        tickId: text,
        price: z.number(),
        reason: text,
        state: z.enum(['held', 'released', 'dropped']),
        at: moment,
        received: moment,
        decidedAt: moment.nullable(),
        decidedBy: text.nullable(),
      }),
    ),
    bars: z.array(
      z.strictObject({
        id: z.int().describe('Unique among ticks and bars'),
        symbol: text,
        source: text,
        date: z.iso.date(),
        open: z.number(),
        high: z.number(),
        low: z.number(),
        close: z.number(),
        reason: text,
        origin: text.describe('The run it came from, such as `import 3`'),
        state: z.enum(['held', 'released', 'dropped']),
        received: moment,
        decidedAt: moment.nullable(),
        decidedBy: text.nullable(),
      }),
    ),
    complete: z
      .boolean()
      .describe('Whether these are all of them: at most 1,000 of each kind are listed, the newest'),
  }),
  DecidedTick: z.strictObject({ success, id: z.int(), state: z.enum(['released', 'dropped']) }),
  AdminFeeds: z.strictObject({
    success,
    feeds: z.array(
      z.strictObject({
        ...feedBasics,
        health: z
          .enum(['off', 'waiting', 'ok', 'partial', 'failing', 'late'])
          .describe(
            '`partial`: some of its series fail. `failing`: its last run failed. `late`: it has missed its schedule twice',
          ),
        late: z.boolean(),
        failures: z.int().describe('Number of consecutive failed runs'),
        schedule: text.describe('A cron expression'),
        zone: text,
        symbols: z.array(text).describe('The symbols it currently provides'),
        series: z.int().describe('Number of symbols it has a series for'),
        lacking: z.array(text).describe('Required settings that are missing'),
        runBy: text.nullable().describe('The process that is running it'),
        lastOkAt: moment.nullable(),
        nextRunAt: moment.nullable(),
        lateAt: moment.nullable(),
        failing: z
          .array(
            z.strictObject({
              series: text.describe('The provider’s name for the series'),
              symbol: text,
              reason: text,
              since: moment,
              lateAt: moment.nullable().describe('When the symbol’s prices become stale'),
            }),
          )
          .describe('Series that fail while others of the feed succeed'),
        ...feedCoverage,
        runs: z.array(run).describe('The last ten, newest first'),
      }),
    ),
  }),
  ChangedFeed: z.strictObject({ success, key: text, enabled: z.boolean() }),
  RequestedSample: z.strictObject({ success, requested: z.literal(true) }),
} as const satisfies Record<string, z.ZodType>;
