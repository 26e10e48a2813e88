import { z } from 'zod';
import { feedBasics, feedCoverage, success, text } from './schema-parts.ts';

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
  held: z.int().describe('Suspicious bars that wait in quarantine'),
  withdrawn: z.int().describe('Days that the provider has no more'),
  reasons: z.array(z.strictObject(remark)).describe('The first of the refused, and why'),
  notes: z.array(
    z.strictObject({ kind: z.enum(['held', 'withdrawn', 'odd', 'ignored', 'elsewhere']), ...remark }),
  ),
});

/** What the operator is told of the running service. */
export const OPERATOR_SCHEMAS = {
  Alarms: z.strictObject({
    success,
    complete: z.boolean().describe('False when other replicas cannot be asked because the ledger is away'),
    alarms: z.array(
      z.strictObject({
        name: text.describe('Such as `feed.late.fred`; at most one of a name'),
        type: text.describe('Such as `feed.late`'),
        since: moment.nullable(),
        details: z.record(text, z.union([text, z.number()])).describe('What the webhook is posted'),
        processes: z.array(text).describe('Machine and process id of those in which it is on'),
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
      newestDataAgeSeconds: z
        .int()
        .nullable()
        .describe(
          'Age of the newest price, by its own time: of a tick its moment, of a bar the end of its session',
        ),
      newestWriteAgeSeconds: z
        .int()
        .nullable()
        .describe('Time since a price was last written, whatever day it is of'),
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
            .describe('`silent`: not heard of for 15 s; it died, or is cut off from the ledger'),
          startedAt: z.iso.datetime(),
          revision: z.int(),
          behind: z.int().describe('Revisions of the ledger that it lacks'),
          silentSeconds: z.int().describe('Time since it was last heard of'),
          accounts: z.int(),
          units: z.int().describe('Units of quotas that it holds'),
        }),
      )
      .describe('Every process that serves from this ledger'),
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
        id: z.int().describe('Ticks and bars share their ids'),
        symbol: text,
        source: text,
        date: z.iso.date(),
        open: z.number(),
        high: z.number(),
        low: z.number(),
        close: z.number(),
        reason: text,
        origin: text.describe('The run that brought it, such as `import 3`'),
        state: z.enum(['held', 'released', 'dropped']),
        received: moment,
        decidedAt: moment.nullable(),
        decidedBy: text.nullable(),
      }),
    ),
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
            '`partial`: some of its series fail. `failing`: its last run did not end well. `late`: it has missed its schedule twice',
          ),
        late: z.boolean(),
        failures: z.int().describe('Runs in a row that did not end well'),
        schedule: text.describe('A cron expression'),
        zone: text,
        symbols: z.array(text).describe('The symbols that it brings now'),
        series: z.int().describe('How many symbols it could bring'),
        lacking: z.array(text).describe('Settings that it needs and that are not there'),
        runBy: text.nullable().describe('The process that runs it now'),
        lastOkAt: moment.nullable(),
        nextRunAt: moment.nullable(),
        lateAt: moment.nullable(),
        failing: z
          .array(
            z.strictObject({
              series: text.describe('The provider’s name of the series'),
              symbol: text,
              reason: text,
              since: moment,
              lateAt: moment.nullable().describe('When the prices of its symbol count as stale'),
            }),
          )
          .describe('Series that fail while the others of the feed do not'),
        ...feedCoverage,
        runs: z.array(run).describe('The last ten, the newest first'),
      }),
    ),
  }),
  ChangedFeed: z.strictObject({ success, key: text, enabled: z.boolean() }),
} as const satisfies Record<string, z.ZodType>;
