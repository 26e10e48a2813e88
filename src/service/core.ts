import { join } from 'node:path';
import { Api } from '../api/api.ts';
import { ReaderPool } from '../api/ledger-reads/reader-pool.ts';
import { Visits } from '../api/market/visits.ts';
import type { Phase } from '../api/model/health.ts';
import { ParquetFiles } from '../api/parquet/parquet-files.ts';
import { EntityTags } from '../api/response/etag.ts';
import type { IngestMetrics } from '../api/telemetry/ingest-metrics.ts';
import type { ProcessSharing } from '../api/telemetry/sharing.ts';
import type { Board } from '../board/board.ts';
import type { Config } from '../config.ts';
import { PROVIDERS } from '../feeds/providers/index.ts';
import { FeedAdmin } from '../feeds/thread/feed-admin.ts';
import { PushWriter } from '../feeds/thread/push-writer.ts';
import type { BurstLimits } from '../gate/burst/burst-limits.ts';
import type { Directory } from '../gate/directory/directory.ts';
import type { Meter } from '../gate/meter/meter.ts';
import type { KeyUses } from '../gate/statistics/key-uses.ts';
import type { Webhook } from '../gate/webhook.ts';
import { LedgerLatency } from '../ledger/engine/latency.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { requirePlausibleClock } from '../ledger/operations/clock-check.ts';
import type { StorePush } from '../ledger/prices/pushes.ts';
import type { ActiveAlarm } from '../ops/alarms.ts';
import type { Faults } from '../ops/faults.ts';
import { Caches } from '../ops/gauges/cache-gauges.ts';
import { CertificateMonitor } from '../ops/tls/certificate-monitor.ts';
import { UnstoredPosts } from '../ops/unstored-posts.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AccessLog } from '../runtime/log/access-log.ts';
import type { Log } from '../runtime/log/log.ts';
import { VERSION } from '../runtime/version.ts';
import { decideDemo } from '../setup/demo.ts';
import { GivenKeys } from './core/given-keys.ts';
import { openAccess } from './core/open-access.ts';
import { openLedger } from './core/open-ledger.ts';
import { openPrices } from './core/open-prices.ts';
import { openTelemetry } from './core/open-telemetry.ts';
import { etagSecret, openWebhook, webhookSecret } from './core/secrets.ts';
import type { CoreSetup } from './core/setup.ts';
import { JobRunner } from './jobs/jobs.ts';

/** Everything that answers requests, without a socket and without feeds. */
export interface Core {
  /** Names this process in the ledger. */
  readonly replica: string;
  readonly ledger: Ledger;
  readonly directory: Directory;
  readonly meter: Meter;
  readonly board: Board;
  readonly api: Api;
  readonly demo: boolean;
  /** The key of the demo account, when prices are simulated. */
  readonly demoKey: string | undefined;
  /** Whether requests are answered. */
  phase: Phase;
  readonly accessLog: AccessLog | undefined;
  /** The burst limits of this machine. */
  readonly burst: BurstLimits;
  readonly faults: Faults;
  /** Where events are posted, if the operator has set it. */
  readonly webhook: Webhook | undefined;
  /** Posts about alarms that the ledger could not record yet. */
  readonly unstoredPosts: UnstoredPosts;
  readonly ingestMetrics: IngestMetrics;
  /** Which key was used for what, since the last flush. */
  readonly keyUses: KeyUses;
  /** Latency of the feed thread's ledger calls. */
  readonly feedsLatency: LedgerLatency;
  /** The certificate in use, when the service speaks HTTPS. */
  readonly certificate: CertificateMonitor | undefined;
  alarms(): readonly ActiveAlarm[];
  /** Stores pushed prices. The feed thread does it, once it runs. */
  push: StorePush;
  /** Loads what was written to the ledger since the last call. */
  follow(): Promise<void>;
  close(): Promise<void>;
}

/** Opens ledger, gate, board and API, in that order. If a step fails, the steps before it are undone in reverse. */
export async function openCore(
  config: Config,
  clock: Clock,
  log: Log,
  sharing?: ProcessSharing,
): Promise<Core> {
  await using opened = new AsyncDisposableStack();
  const setup: CoreSetup = { config, clock, log, opened };
  const startedAt = clock.now();
  const replica = Bun.randomUUIDv7();
  const certificate = config.tls && (await CertificateMonitor.open(config.tls, clock, log));
  const latency = { requests: new LedgerLatency(), feeds: new LedgerLatency() };
  const ledger = opened.adopt(await openLedger(config, clock, log, latency.requests), (one) => one.close());
  if (!config.acceptClock) await requirePlausibleClock(ledger.engine, clock.now());
  const demo = await decideDemo(config, ledger);
  const pageKeys = await GivenKeys.open(config, ledger, clock, demo);
  const caches = new Caches(config.cacheMb * 1024 * 1024);
  const access = await openAccess(setup, ledger, replica, caches);
  const prices = await openPrices(setup, ledger, access);
  const reading = openReading(setup, access.faults);
  const webhook = await openWebhook(config, ledger, clock);
  const telemetry = openTelemetry(setup, {
    phase: () => core.phase,
    startedAt,
    ledger,
    access,
    prices,
    readers: reading.readers,
    caches,
    latency,
    webhook,
    certificate,
    simulated: demo,
  });
  const { accessLog, ingestMetrics, report } = telemetry;
  const secret = await etagSecret(ledger);
  const api = new Api({
    ...access,
    ...prices,
    ...reading,
    ...telemetry,
    ...managementOf(config, ledger),
    ledger,
    clock,
    log,
    caches,
    pageKeys,
    replica,
    tags: new EntityTags(secret, () => prices.board.epoch),
    visits: new Visits(secret),
    mounts: config.mounts,
    trustedProxies: config.trustedProxies,
    adminToken: config.adminToken,
    failedKeysPerMinute: config.failedKeysPerMinute,
    simulated: demo,
    version: VERSION,
    phase: () => core.phase,
    health: report.health,
    alarms: report.alarms,
    push: (push) => core.push(push),
    follow: () => core.follow(),
    ...(sharing && { sharing }),
    lagSeconds: () => prices.followerLag.seconds,
    arrivalMs: () => telemetry.loop.arrivalMs(),
    onError: (error) => access.faults.damage.observe(error),
  });

  const pushes = new PushWriter(async () => ledger);
  const core: Core = {
    replica,
    ledger,
    directory: access.gate.directory,
    meter: access.meter,
    board: prices.board,
    api,
    demo,
    demoKey: pageKeys.demoKey,
    phase: 'starting',
    accessLog,
    burst: access.burst,
    faults: access.faults,
    webhook,
    unstoredPosts: new UnstoredPosts(join(config.dataDir, 'alarms')),
    ingestMetrics,
    keyUses: access.keyUses,
    feedsLatency: latency.feeds,
    certificate,
    alarms: report.alarms,
    push: (push) => pushes.write(push),
    async follow() {
      await prices.follow();
      await pageKeys.follow(access.gate.directory.changes, log);
    },
    close: () => toClose.disposeAsync(),
  };
  const toClose = opened.move();
  return core;
}

/** Reads the ledger and writes files in threads of their own, for requests that take long. */
function openReading({ config, clock, opened }: CoreSetup, faults: Faults) {
  const readers = new ReaderPool({
    ledgerUrl: config.databaseUrl,
    standbyUrl: config.readUrl,
    simulated: config.demo !== 'off',
  });
  opened.defer(() => readers.close());
  // A standby may answer while the primary does not.
  if (config.readUrl === undefined) faults.ledger.onUnreachable(() => readers.failAll());
  const downloadsDir = join(config.dataDir, 'downloads');
  const parquetFiles = new ParquetFiles(downloadsDir, clock);
  opened.defer(() => parquetFiles.close());
  return { readers, parquetFiles, downloadsDir };
}

/** What the operator's page manages through the API. */
function managementOf(config: Config, ledger: Ledger) {
  return {
    feedAdmin: new FeedAdmin(ledger, PROVIDERS, config.secrets),
    jobs: new JobRunner(config),
    webhookSecret: async () => config.webhookSecret ?? webhookSecret(ledger),
  };
}
