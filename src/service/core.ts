import { join } from 'node:path';
import { Api } from '../api/api.ts';
import { ConfirmedWrites } from '../api/ledger-reads/confirmed-writes.ts';
import { ReaderPool } from '../api/ledger-reads/reader-pool.ts';
import { Visits } from '../api/market/visits.ts';
import type { Phase } from '../api/model/health.ts';
import { ParquetFiles } from '../api/parquet/parquet-files.ts';
import { EntityTags } from '../api/response/etag.ts';
import { IngestMetrics } from '../api/telemetry/ingest-metrics.ts';
import type { ProcessSharing } from '../api/telemetry/sharing.ts';
import { Board } from '../board/board.ts';
import type { Config } from '../config.ts';
import { PROVIDERS } from '../feeds/providers/index.ts';
import { FeedAdmin } from '../feeds/thread/feed-admin.ts';
import { Freshness } from '../feeds/thread/freshness.ts';
import { PushWriter } from '../feeds/thread/push.ts';
import { BurstLimits } from '../gate/burst/burst-limits.ts';
import { Gate } from '../gate/gate.ts';
import { Meter } from '../gate/meter/meter.ts';
import { PUBLIC_ACCOUNT } from '../gate/onboarding.ts';
import { KeyUses } from '../gate/statistics/key-uses.ts';
import type { Webhook } from '../gate/webhook.ts';
import { hasDiskSpace as folderHasSpace } from '../ledger/engine/disk-space.ts';
import { LedgerLatency } from '../ledger/engine/latency.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isPostgres } from '../ledger/open-engine.ts';
import { requirePlausibleClock } from '../ledger/operations/clock-check.ts';
import type { TakePush } from '../ledger/prices/pushes.ts';
import type { ActiveAlarm } from '../ops/alarms.ts';
import type { Faults } from '../ops/faults.ts';
import { FollowerLag } from '../ops/follower-lag.ts';
import { Caches } from '../ops/gauges/cache-gauges.ts';
import { CertificateMonitor } from '../ops/tls/certificate-monitor.ts';
import type { Clock } from '../runtime/clock.ts';
import { AccessLog } from '../runtime/log/access-log.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import { LoopMonitor } from '../runtime/metrics/loop-monitor.ts';
import { VERSION } from '../runtime/version.ts';
import { decideDemo, demoKey } from '../setup/demo.ts';
import { publicKey } from '../setup/public-key.ts';
import { createFollower } from './follower.ts';
import { serviceGauges } from './gauges.ts';
import { HealthReport } from './health.ts';
import { JobRunner } from './jobs/jobs.ts';
import { createFaults, openLedger } from './open-ledger.ts';
import { etagSecret, openWebhook, webhookSecret } from './secrets.ts';

/** How long settled counts stay in the spool, to be reported again to a PostgreSQL that failed over and lost its last writes. */
const KEEP_SETTLED_MS = 60_000;
/** SQLite and the spool are on one disk: counts that are only in the spool are as safe, and /usage includes them. */
const SQLITE_FLUSH_MS = 60_000;
/** SQLite runs on the thread that serves requests: a transaction of this size takes it about 2 ms. */
const SQLITE_BATCH_MAX = 64;

/** Everything that answers requests, without a socket and without feeds. */
export interface Core {
  /** Names this process in the ledger. */
  readonly replica: string;
  readonly ledger: Ledger;
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
  readonly ingestMetrics: IngestMetrics;
  /** Which key was used for what, since the last flush. */
  readonly keyUses: KeyUses;
  /** Latency of the feed thread's ledger calls. */
  readonly feedsLatency: LedgerLatency;
  /** The certificate in use, when the service speaks HTTPS. */
  readonly certificate: CertificateMonitor | undefined;
  alarms(): readonly ActiveAlarm[];
  /** Stores pushed prices. The feed thread does it, once it runs. */
  push: TakePush;
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
  const startedAt = clock.now();
  const certificate = config.tls && (await CertificateMonitor.open(config.tls, clock, log));

  const latency = { requests: new LedgerLatency(), feeds: new LedgerLatency() };
  const ledger = opened.adopt(await openLedger(config, clock, log, latency.requests), (one) => one.close());
  if (!config.acceptClock) await requirePlausibleClock(ledger.engine, clock.now());
  const demo = await decideDemo(config, ledger);
  const pageKeys = {
    demoKey: demo ? await demoKey(config, ledger, clock.now()) : undefined,
    publicKey: await publicKey(config, ledger, clock.now()),
  };

  const caches = new Caches(config.cacheMb * 1024 * 1024);
  const burst = new BurstLimits(join(config.dataDir, 'burst'));
  const gate = await Gate.open({
    ledger,
    clock,
    burst,
    failedKeysPerMinute: config.failedKeysPerMinute,
    publicAccount: config.publicPlan === undefined ? undefined : PUBLIC_ACCOUNT,
    keyBytesMax: caches.bytesMax('keys'),
    failedKeys: caches.failedKeys,
  });
  const faults = createFaults(config, clock, ledger, () => meter.isDown);
  opened.defer(() => faults.stop());
  const replica = Bun.randomUUIDv7();
  const meter = opened.adopt(await openMeter(config, clock, log, { ledger, replica, faults }), (one) =>
    one.close(),
  );

  const board = await openBoard(config, clock, ledger, gate);
  const freshness = new Freshness(ledger, PROVIDERS);
  const feeds = () => freshness.list();
  const confirmedWrites = new ConfirmedWrites();
  const followerLag = new FollowerLag(clock);
  const follow = createFollower({
    ledger,
    gate,
    meter,
    board,
    freshness,
    confirmedWrites,
    followerLag,
    clock,
    log,
  });

  const loop = new LoopMonitor();
  loop.start();
  opened.defer(() => loop.stop());
  const accessLog = openAccessLog(config, clock, log);
  opened.defer(() => accessLog?.flush());
  const readers = new ReaderPool({
    ledgerUrl: config.databaseUrl,
    standbyUrl: config.readUrl,
    simulated: config.demo !== 'off',
  });
  opened.defer(() => readers.close());
  const downloadsDir = join(config.dataDir, 'downloads');
  const parquetFiles = new ParquetFiles(downloadsDir, clock);
  opened.defer(() => parquetFiles.close());
  const webhook = await openWebhook(config, ledger, clock);
  const ingestMetrics = new IngestMetrics();
  // The spool is in the data folder, wherever the ledger is.
  const hasDiskSpace = () => ledger.engine.hasDiskSpace() && folderHasSpace(config.dataDir);
  const report = new HealthReport({
    phase: () => core.phase,
    clock,
    board,
    feeds,
    faults,
    certificate,
    simulated: demo,
    hasDiskSpace,
  });
  const gauges = serviceGauges({
    clock,
    report,
    faults,
    board,
    readers,
    cacheGauges: caches.gauges(gate.directory.cache),
    process: { version: VERSION, engine: ledger.engine.name, startedAt },
    loop,
    accessLog,
    feeds,
    ingestMetrics,
    latency,
    meter,
    followerLag,
    webhook,
    certificate,
    hasDiskSpace,
  });

  const keyUses = new KeyUses(ledger.keyUses);
  opened.defer(() => keyUses.flush().catch(() => {}));
  const { mounts, trustedProxies, adminToken, failedKeysPerMinute } = config;
  const secret = await etagSecret(ledger);
  const api = new Api({
    ledger,
    board,
    gate,
    meter,
    keyUses,
    clock,
    tags: new EntityTags(secret, () => board.epoch),
    visits: new Visits(secret),
    log,
    mounts,
    trustedProxies,
    adminToken,
    failedKeysPerMinute,
    pageKeys,
    simulated: demo,
    replica,
    version: VERSION,
    phase: () => core.phase,
    health: report.health,
    alarms: () => core.alarms(),
    feeds,
    feedAdmin: new FeedAdmin(ledger, PROVIDERS, config.secrets),
    jobs: new JobRunner(config.databaseUrl, config.dataDir, config.secrets),
    webhookSecret: async () => config.webhookSecret ?? webhookSecret(ledger),
    push: (push) => core.push(push),
    ingestMetrics,
    readers,
    confirmedWrites,
    parquetFiles,
    downloadsDir,
    gauges,
    ...(sharing && { sharing }),
    lagSeconds: () => followerLag.seconds,
    accessLog,
    caches,
    arrivalMs: () => loop.arrivalMs(),
    onError: (error) => faults.damage.observe(error),
  });

  const pushes = new PushWriter(async () => ledger);
  const core: Core = {
    replica,
    ledger,
    board,
    api,
    demo,
    demoKey: pageKeys.demoKey,
    phase: 'starting',
    accessLog,
    burst,
    faults,
    webhook,
    ingestMetrics,
    keyUses,
    feedsLatency: latency.feeds,
    certificate,
    alarms: report.alarms,
    push: (push) => pushes.write(push),
    follow,
    close: () => toClose.disposeAsync(),
  };
  const toClose = opened.move();
  return core;
}

function openAccessLog({ accessLog }: Config, clock: Clock, log: Log): AccessLog | undefined {
  if (accessLog === undefined) return undefined;
  const onError = (error: unknown) =>
    log.warn('the access log cannot be written', { path: accessLog, message: messageOf(error) });
  return new AccessLog({ path: accessLog, clock, onError });
}

/** Counts requests; damage that a count meets is reported like any other. */
function openMeter(
  config: Config,
  clock: Clock,
  log: Log,
  { ledger, replica, faults }: { ledger: Ledger; replica: string; faults: Faults },
): Promise<Meter> {
  return Meter.open({
    ledger,
    clock,
    replica,
    spoolDir: join(config.dataDir, 'spool'),
    // SQLite and the spool are on one disk: neither loses what the other keeps.
    keepSettledMs: isPostgres(config.databaseUrl) ? KEEP_SETTLED_MS : 0,
    ...(!isPostgres(config.databaseUrl) && { flushMs: SQLITE_FLUSH_MS, batchMax: SQLITE_BATCH_MAX }),
    warn: (message) => {
      faults.damage.observe(message);
      log.warn('quota', { message });
    },
  });
}

function openBoard(config: Config, clock: Clock, ledger: Ledger, gate: Gate): Promise<Board> {
  const delaysMs = [...gate.directory.plans].map((plan) => plan.delaySeconds * 1000);
  const historyBytesMax = config.historyMb * 1024 * 1024;
  return Board.open({ ledger, clock, historyBytesMax, simulated: config.demo !== 'off' }, delaysMs);
}
