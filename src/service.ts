import { join } from 'node:path';
import packageJson from '../package.json';
import { Api } from './api/api.ts';
import { ConfirmedWrites } from './api/ledger-reads/confirmed-writes.ts';
import { ReaderPool } from './api/ledger-reads/reader-pool.ts';
import { isLate } from './api/model/feed-status.ts';
import { isReady, type Phase } from './api/model/health.ts';
import { EntityTags } from './api/response/etag.ts';
import { listen } from './api/server.ts';
import { IngestMetrics } from './api/telemetry/ingest-metrics.ts';
import type { ShareMetrics } from './api/telemetry/metrics.ts';
import { Board } from './board/board.ts';
import type { Config } from './config.ts';
import { PROVIDERS } from './feeds/providers/index.ts';
import { startFeeds } from './feeds/thread/client.ts';
import { FeedAdmin } from './feeds/thread/feed-admin.ts';
import { Freshness } from './feeds/thread/freshness.ts';
import { takePush } from './feeds/thread/push.ts';
import { BurstLimits } from './gate/burst/burst-limits.ts';
import { Gate } from './gate/gate.ts';
import { secureRandom } from './gate/key.ts';
import { Meter } from './gate/meter/meter.ts';
import { QuotaEventReporter } from './gate/quota-events.ts';
import { createWebhookSecret, Webhook } from './gate/webhook.ts';
import { hasRoom as folderHasRoom } from './ledger/engine/disk-space.ts';
import { isPostgres, sqlitePath } from './ledger/engine/engine.ts';
import { LedgerLatency } from './ledger/engine/latency.ts';
import { isPostgresSound } from './ledger/engine/postgres/integrity.ts';
import { openWhenReachable } from './ledger/engine/postgres/open-when-reachable.ts';
import { isSqliteSound } from './ledger/engine/sqlite/integrity.ts';
import { Ledger } from './ledger/ledger.ts';
import { requirePlausibleClock } from './ledger/operations/clock-check.ts';
import type { Beat } from './ledger/operations/replicas.ts';
import type { TakePush } from './ledger/prices/pushes.ts';
import { type ActiveAlarm, AlarmReporter, fullDisk, lateFeedSeries, lateFeeds } from './ops/alarms.ts';
import { Faults } from './ops/faults.ts';
import { FollowerLag } from './ops/follower-lag.ts';
import { Caches } from './ops/gauges/cache-gauges.ts';
import { faultGauges } from './ops/gauges/fault-gauges.ts';
import { feedGauges } from './ops/gauges/feed-gauges.ts';
import { processGauges } from './ops/gauges/process-gauges.ts';
import { workGauges } from './ops/gauges/work-gauges.ts';
import { Heartbeat } from './ops/heartbeat.ts';
import { CertificateMonitor } from './ops/tls/certificate-monitor.ts';
import type { Clock } from './runtime/clock.ts';
import { AccessLog } from './runtime/log/access-log.ts';
import { type Log, messageOf } from './runtime/log/log.ts';
import { LoopMonitor } from './runtime/metrics/loop-monitor.ts';
import { processName } from './runtime/process-name.ts';
import { decideDemo, demoKey } from './setup/demo.ts';
import { publicKey } from './setup/public-key.ts';

export const VERSION = packageJson.version;

/** How often another process's writes are looked for. 200 ms: well under the half second that is promised. */
const FOLLOW_EVERY_MS = 200;

/** What the feeds' thread has for its stop, also when the requests took all of the time for draining. */
const STOP_MS_LEAST = 1_000;

/** How often quota events are looked for. */
const TELL_EVERY_MS = 2_000;

/** How often alarms are looked for: an outage is noticed within 4 s and told within 5 s. */
const ALARMS_EVERY_MS = 500;

/** How often the certificate's files are compared with the certificate in use. */
const CERTIFICATE_EVERY_MS = 5_000;

/** For how long a count can be told again to a PostgreSQL that failed over and lost its last writes. */
const KEEP_SETTLED_MS = 60_000;

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
  /** What is wrong with this process and its ledger. */
  readonly faults: Faults;
  /** Where events are posted, if the operator wants that. */
  readonly webhook: Webhook | undefined;
  readonly ingestMetrics: IngestMetrics;
  /** How long the ledger calls of the feeds' thread take. */
  readonly feedsLatency: LedgerLatency;
  /** Where HTTPS is served. */
  readonly certificate: CertificateMonitor | undefined;
  /** What an operator should see to. */
  alarms(): readonly ActiveAlarm[];
  /** Takes in what the operator's own feed sends; the feeds' thread does it, where there is one. */
  push: TakePush;
  /** Takes in what was written to the ledger. */
  follow(): Promise<void>;
  close(): Promise<void>;
}

export interface Service {
  readonly url: string;
  /** The key of the demo account, when prices are simulated. */
  readonly demoKey: string | undefined;
  /** Resolves when history is there and requests are answered. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Opens ledger, gate, board and API, in that order. If a step fails, what was opened is closed in reverse. */
export async function openCore(
  config: Config,
  clock: Clock,
  log: Log,
  shareMetrics?: ShareMetrics,
): Promise<Core> {
  await using opened = new AsyncDisposableStack();
  const startedAt = clock.now();
  const certificate = config.tls && (await CertificateMonitor.open(config.tls, clock, log));
  const latency = { requests: new LedgerLatency(), feeds: new LedgerLatency() };
  const ledger = opened.adopt(await openLedger(config, clock, log, latency.requests), (one) => one.close());
  if (!config.acceptClock) await requirePlausibleClock(ledger, clock.now());
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
    keyBytesMax: caches.bytesMax('keys'),
    failedKeys: caches.failedKeys,
  });
  const faults = openFaults(config, clock, ledger, () => meter.isDown);
  opened.defer(() => faults.stop());
  const replica = Bun.randomUUIDv7();
  const meter = opened.adopt(
    await Meter.open({
      ledger,
      clock,
      replica,
      spoolDir: join(config.dataDir, 'spool'),
      // SQLite and the spool are on one disk, and lose nothing that the other keeps.
      keepSettledMs: isPostgres(config.databaseUrl) ? KEEP_SETTLED_MS : 0,
      warn: (message) => {
        faults.damage.observe(message);
        log.warn('quota', { message });
      },
    }),
    (one) => one.close(),
  );
  const board = await Board.open(
    { ledger, clock, historyBytesMax: config.historyMb * 1024 * 1024, simulated: config.demo !== 'off' },
    [...gate.directory.plans].map((plan) => plan.delaySeconds * 1000),
  );
  const freshness = new Freshness(ledger, PROVIDERS);
  const feeds = () => freshness.list();
  const { mounts, trustedProxies, adminToken, failedKeysPerMinute } = config;
  // The spool is in the data folder, wherever the ledger is.
  const hasRoom = () => ledger.engine.hasRoom() && folderHasRoom(config.dataDir);
  const health = () => ({
    phase: core.phase,
    isLedgerUnusable: faults.isLedgerUnusable,
    alarms: core.alarms().map(({ name }) => name),
    diskFull: !hasRoom(),
    revision: board.revision,
    newestPriceAt: board.newest.priceAt,
    newestWriteAt: board.newest.writtenAt,
    simulated: demo,
    lateFeeds: feeds()
      .filter((feed) => isLate(feed, clock.now()))
      .map(({ key }) => key),
    partialFeeds: feeds()
      .filter(({ enabled, failing }) => enabled && failing.length > 0)
      .map(({ key }) => key),
  });
  const loop = new LoopMonitor();
  loop.start();
  opened.defer(() => loop.stop());
  const accessLog = openAccessLog(config, clock, log);
  opened.defer(() => accessLog?.flush());
  const webhook = await openWebhook(config, ledger, clock);
  const ingestMetrics = new IngestMetrics();
  const followerLag = new FollowerLag(clock);
  const readers = new ReaderPool({
    ledgerUrl: config.databaseUrl,
    standbyUrl: config.readUrl,
    simulated: config.demo !== 'off',
  });
  const confirmedWrites = new ConfirmedWrites();
  opened.defer(() => readers.close());
  const gauges = [
    ...faultGauges(
      () => isReady(health()),
      faults,
      () => core.alarms(),
    ),
    { name: 'openpit_revision', help: 'Price revision that is served.', value: () => board.revision },
    { name: 'openpit_history_bytes', help: 'Price history in memory.', value: () => board.bytes },
    {
      name: 'openpit_past_reads',
      help: 'Requests that read the ledger or wait for it.',
      value: () => readers.size,
    },
    {
      name: 'openpit_past_reads_total',
      help: 'Reads of the ledger for requests, by the server that answered.',
      type: 'counter' as const,
      value: () => readers.reads,
    },
    ...caches.gauges(gate.directory.cache),
    {
      name: 'openpit_disk_full',
      help: '1 when the disk is nearly full and no prices are taken in.',
      value: () => Number(!hasRoom()),
    },
    ...processGauges({ version: VERSION, engine: ledger.engine.name, startedAt }, loop),
    {
      name: 'openpit_access_log_dropped_total',
      help: 'Access log lines that could not be written.',
      type: 'counter' as const,
      value: () => accessLog?.dropped ?? 0,
    },
    ...feedGauges(feeds, clock),
    ...ingestMetrics.gauges(),
    ...workGauges({ latency, meter, followerLag, webhook }),
    ...(certificate?.gauges() ?? []),
  ];
  let { epoch } = board;
  const core: Core = {
    replica,
    ledger,
    board,
    demo,
    demoKey: pageKeys.demoKey,
    phase: 'starting',
    accessLog,
    burst,
    faults,
    webhook,
    ingestMetrics,
    feedsLatency: latency.feeds,
    certificate,
    alarms: () => [
      ...faults.alarms(),
      ...(certificate?.alarms() ?? []),
      ...lateFeeds(feeds, clock),
      ...lateFeedSeries(feeds, clock),
      ...fullDisk(hasRoom, clock),
    ],
    push: (push) => takePush(ledger, push),
    api: new Api({
      ledger,
      board,
      gate,
      meter,
      clock,
      tags: new EntityTags(await etagSecret(ledger), () => board.epoch),
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
      health,
      alarms: () => core.alarms(),
      feeds,
      feedAdmin: new FeedAdmin(ledger, PROVIDERS, config.secrets),
      push: (push) => core.push(push),
      ingestMetrics,
      readers,
      confirmedWrites,
      downloadsDir: join(config.dataDir, 'downloads'),
      gauges,
      ...(shareMetrics && { shareMetrics }),
      accessLog,
      caches,
      arrivalMs: () => loop.arrivalMs(),
      onError: (error) => faults.damage.observe(error),
    }),
    async follow() {
      const followed = followerLag.begin();
      const writesFollowed = confirmedWrites.beginFollowing();
      const head = await ledger.head();
      if (head.epoch !== epoch) {
        log.warn('the ledger has failed over or was restored: all is loaded from it again', {});
        meter.reportAll();
      }
      epoch = head.epoch;
      await gate.follow(head);
      await board.follow(head);
      writesFollowed();
      await freshness.follow(clock.now());
      board.setLateFrom((code) => freshness.lateFrom(code));
      followed();
    },
    close: () => toClose.disposeAsync(),
  };
  const toClose = opened.move();
  return core;
}

function openFaults(config: Config, clock: Clock, ledger: Ledger, isMeterDown: () => boolean): Faults {
  const { databaseUrl } = config;
  return new Faults({
    clock,
    isMeterDown,
    readOutages: () => ledger.alarms.outages(),
    recordOutage: (number) => ledger.alarms.recordOutage(number),
    isSound: () =>
      isPostgres(databaseUrl) ? isPostgresSound(databaseUrl, clock) : isSqliteSound(sqlitePath(databaseUrl)),
  });
}

/** A PostgreSQL may still be starting. A SQLite file is there or never will be. */
function openLedger(config: Config, clock: Clock, log: Log, latency: LedgerLatency): Promise<Ledger> {
  // Progress of the start, each time: warnings that repeat would be aggregated.
  const onLockWait = (message: string) => log.info('waiting for a lock', { message });
  const open = () => Ledger.open(config.databaseUrl, clock, 'serving', { latency, onLockWait });
  if (!isPostgres(config.databaseUrl)) return open();
  return openWhenReachable(open, {
    waitMs: config.databaseWaitSeconds * 1_000,
    onWaiting: (message, waitedMs) =>
      log.info('waiting for PostgreSQL', { message, waitedSeconds: Math.round(waitedMs / 1_000) }),
  });
}

/** How a process is one of several on its machine. */
export interface ProcessRole {
  /** Whether others listen on the same port. */
  shared: boolean;
  /** Whether this one brings the prices. */
  feeds: boolean;
  /** How a scrape gets the metrics of the others, too. */
  shareMetrics?: ShareMetrics;
}

/** Opens the core, listens, and starts what brings prices. Stopping is the reverse. */
export async function startService(
  config: Config,
  clock: Clock,
  log: Log,
  share: ProcessRole = { shared: false, feeds: true },
): Promise<Service> {
  await using opened = new AsyncDisposableStack(); // until the last step has succeeded; then `stop` closes
  const core = opened.adopt(await openCore(config, clock, log, share.shareMetrics), (one) => one.close());
  const { webhook } = core;
  const teller = new QuotaEventReporter(core.ledger, log, webhook);
  const alarms = new AlarmReporter({
    current: () => core.alarms(),
    store: core.ledger.alarms,
    isStoreReachable: () => !core.faults.isLedgerUnusable,
    clock,
    log,
    webhook,
  });
  const told = (one: AlarmReporter | QuotaEventReporter) => () =>
    one.turn().catch((error) => log.warn('events could not be told', { message: messageOf(error) }));
  // Apart from each other: quota events wait for the ledger, and alarms must not.
  const alarming = repeat(ALARMS_EVERY_MS, told(alarms));
  const telling = repeat(TELL_EVERY_MS, told(teller));
  const { faults } = core;
  const following = repeat(FOLLOW_EVERY_MS, async () => {
    try {
      await core.follow();
      faults.follower.succeeded();
    } catch (error) {
      faults.follower.failed(messageOf(error));
      faults.damage.observe(error);
      log.warn('the ledger could not be followed', { message: messageOf(error) });
    }
  });
  const repeated = [alarming, telling, following];
  const stopRepeated = () => Promise.all(repeated.map((one) => one.stop()));
  opened.defer(async () => void (await stopRepeated()));
  const { burst, ledger } = core;
  const replicas = {
    async beat(beat: Beat) {
      await ledger.replicas.beat(beat);
      burst.setMachines(await ledger.machines.record(burst.machine));
    },
    leave: (id: string) => ledger.replicas.leave(id),
  };
  const heartbeat = new Heartbeat(replicas, log, () => ({
    id: core.replica,
    name: processName(),
    version: VERSION,
    phase: core.phase,
    revision: core.board.revision,
    alarms: core
      .alarms()
      .map(({ name, since, event }) => ({ name, ...(since !== undefined && { since }), event })),
  }));
  // A ledger with prices is served from the first request on; a new demo says that it waits for its history.
  const waitsForHistory = core.demo && share.feeds && (await core.ledger.isEmpty());
  if (!waitsForHistory) {
    await following.once();
    await loadDates(core.board, log);
    core.phase = 'ready';
  }
  const { certificate } = core;
  const { host, port } = config;
  const tls = certificate?.credentials;
  const listener = listen(core.api, { hostname: host, port, isShared: share.shared, tls });
  if (certificate) {
    certificate.onRenewed = (credentials) => listener.setCredentials(credentials);
    repeated.push(repeat(CERTIFICATE_EVERY_MS, () => certificate.check()));
  }
  opened.defer(() => listener.stop(0));
  const ready = Promise.withResolvers<void>();
  const tellReady = () => {
    ready.resolve();
    log.info('ready', { url: listener.url, revision: core.board.revision, simulated: core.demo });
  };
  const becomeReady = async () => {
    await following.once();
    core.phase = 'ready';
    heartbeat.beat();
    tellReady();
  };
  const feeds =
    share.feeds &&
    startFeeds({
      ledgerUrl: config.databaseUrl,
      demo: core.demo,
      secrets: config.secrets,
      retention: config.retention,
      latency: core.feedsLatency,
      onWritten: () => void following.once(),
      onProgress: (done, total) => {
        faults.feeds.succeeded(); // the first fill is one long turn
        log.debug('simulated history', { done, total });
      },
      onReady: () => void (waitsForHistory && becomeReady()),
      onTurn: () => faults.feeds.succeeded(),
      onRun: (run) => core.ingestMetrics.countRun(run),
      onFailure: (message) => {
        faults.feeds.failed(message);
        faults.damage.observe(message);
        log.warn('feeds', { message });
      },
      onError: (message) => log.warn('feeds', { message }),
    });
  if (feeds) {
    core.push = (push) => feeds.push(push);
    faults.feeds.start();
  }
  faults.follower.start();
  faults.ledger.start();
  if (!waitsForHistory) tellReady();
  heartbeat.start();
  opened.move();

  return {
    url: listener.url,
    demoKey: core.demoKey,
    ready: ready.promise,
    async stop() {
      core.phase = 'draining';
      log.info('stopping');
      core.api.drain();
      heartbeat.beat();
      const endsAt = performance.now() + config.drainSeconds * 1000;
      await listener.stop(config.drainSeconds * 1000);
      // Each may wait for a ledger that does not answer.
      await Promise.all([
        feeds ? feeds.stop(Math.max(STOP_MS_LEAST, endsAt - performance.now())) : undefined,
        stopRepeated(),
        heartbeat.stop(),
      ]);
      await core.close();
    },
  };
}

/** The same on every replica, since tags are. It never leaves the ledger and its processes. */
/** A start does not wait longer than this for what only the first request of /symbols would have to wait for. */
const DATES_MS_MAX = 1_000;

async function loadDates(board: Board, log: Log): Promise<void> {
  const loading = board
    .loadDates()
    .catch((error) => log.debug('dates are loaded later', { message: messageOf(error) }));
  await Promise.race([loading, Bun.sleep(DATES_MS_MAX)]);
}

function etagSecret(ledger: Ledger): Promise<string> {
  return ledger.metaOnce('etag-secret', () => Buffer.from(secureRandom(32)).toString('hex'));
}

function openAccessLog({ accessLog }: Config, clock: Clock, log: Log): AccessLog | undefined {
  if (accessLog === undefined) return undefined;
  const onError = (error: unknown) =>
    log.warn('the access log cannot be written', { path: accessLog, message: messageOf(error) });
  return new AccessLog({ path: accessLog, clock, onError });
}

/** The secret is the operator's, or one that is made once and kept in the ledger, the same for every replica. */
async function openWebhook(config: Config, ledger: Ledger, clock: Clock): Promise<Webhook | undefined> {
  if (config.webhookUrl === undefined) return undefined;
  const secret =
    config.webhookSecret ??
    (await ledger.metaOnce('webhook-secret', () => createWebhookSecret(secureRandom)));
  return new Webhook(config.webhookUrl, secret, clock);
}

/** Does a job again and again, never twice at a time. `once` has it done once more, from a fresh start. */
function repeat(everyMs: number, job: () => Promise<void>): { once(): Promise<void>; stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;
  const once = () => {
    queued ??= running.then(() => {
      queued = undefined;
      running = job();
      return running;
    });
    return queued;
  };
  const timer = setInterval(once, everyMs);
  return {
    once,
    async stop() {
      clearInterval(timer);
      await queued;
      await running;
    },
  };
}
