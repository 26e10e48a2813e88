import { dirname } from 'node:path';
import type { ReaderPool } from '../../api/ledger-reads/reader-pool.ts';
import type { Phase } from '../../api/model/health.ts';
import { IngestMetrics } from '../../api/telemetry/ingest-metrics.ts';
import type { Gauge } from '../../api/telemetry/metrics.ts';
import type { Config } from '../../config.ts';
import type { Webhook } from '../../gate/webhook.ts';
import { hasDiskSpace as folderHasSpace, hasFreeInodes } from '../../ledger/engine/disk-space.ts';
import type { LedgerLatency } from '../../ledger/engine/latency.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import type { FullDisk } from '../../ops/alarms.ts';
import type { Caches } from '../../ops/gauges/cache-gauges.ts';
import type { CertificateMonitor } from '../../ops/tls/certificate-monitor.ts';
import type { Clock } from '../../runtime/clock.ts';
import { AccessLog } from '../../runtime/log/access-log.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import { LoopMonitor } from '../../runtime/metrics/loop-monitor.ts';
import { VERSION } from '../../runtime/version.ts';
import { serviceGauges } from './gauges.ts';
import { HealthReport } from './health.ts';
import type { Access } from './open-access.ts';
import type { ServedPrices } from './open-prices.ts';
import type { CoreSetup } from './setup.ts';

/** What is observed. */
export interface TelemetrySources {
  phase(): Phase;
  startedAt: number;
  ledger: Ledger;
  access: Access;
  prices: ServedPrices;
  readers: ReaderPool;
  caches: Caches;
  /** Latency of the ledger calls by requests and by the feed thread. */
  latency: { requests: LedgerLatency; feeds: LedgerLatency };
  webhook: Webhook | undefined;
  certificate: CertificateMonitor | undefined;
  simulated: boolean;
}

/** Health, metrics and the access log. */
export interface Telemetry {
  readonly loop: LoopMonitor;
  readonly accessLog: AccessLog | undefined;
  readonly ingestMetrics: IngestMetrics;
  readonly report: HealthReport;
  readonly gauges: readonly Gauge[];
}

export function openTelemetry(setup: CoreSetup, sources: TelemetrySources): Telemetry {
  const { config, clock, log, opened } = setup;
  const { ledger, prices, certificate } = sources;
  const { faults, meter } = sources.access;
  const { board, feeds, followerLag } = prices;
  const loop = new LoopMonitor();
  loop.start();
  opened.defer(() => loop.stop());
  const accessLog = openAccessLog(config.accessLog, clock, log);
  opened.defer(() => accessLog?.close());
  const ingestMetrics = new IngestMetrics();
  const diskToFree = () => fullDiskOf(config, ledger);
  const diskWithFewInodes = () => fewInodesOn(config);
  const { phase, simulated } = sources;
  const health = {
    phase,
    clock,
    board,
    feeds,
    faults,
    certificate,
    simulated,
    diskToFree,
    diskWithFewInodes,
  };
  const report = new HealthReport(health);
  const gauges = serviceGauges({
    clock,
    report,
    faults,
    board,
    readers: sources.readers,
    cacheGauges: sources.caches.gauges(sources.access.gate.directory.cache),
    process: { version: VERSION, engine: ledger.engine.name, startedAt: sources.startedAt },
    loop,
    accessLog,
    feeds,
    ingestMetrics,
    latency: sources.latency,
    meter,
    followerLag,
    webhook: sources.webhook,
    certificate,
    hasDiskSpace: () => diskToFree() === undefined,
  });
  return { loop, accessLog, ingestMetrics, report, gauges };
}

const DATA_DISK = 'the disk of OPENPIT_DATA_DIR';
const LEDGER_DISK = 'the disk of the ledger (OPENPIT_DATABASE_URL)';

/** The spool is in the data folder, wherever the ledger is. */
function fullDiskOf({ dataDir }: Config, { engine }: Ledger): FullDisk | undefined {
  if (!folderHasSpace(dataDir)) return { disk: DATA_DISK, isLocal: true };
  if (engine.hasDiskSpace()) return undefined;
  return engine.name === 'postgres'
    ? { disk: 'the disk of PostgreSQL', isLocal: false }
    : { disk: LEDGER_DISK, isLocal: true };
}

function fewInodesOn(config: Config): string | undefined {
  if (!hasFreeInodes(config.dataDir)) return DATA_DISK;
  const path = ledgerPath(config);
  return path === undefined || hasFreeInodes(dirname(path)) ? undefined : LEDGER_DISK;
}

function openAccessLog(path: string | undefined, clock: Clock, log: Log): AccessLog | undefined {
  if (path === undefined) return undefined;
  const onError = (error: unknown) =>
    log.warn('the access log cannot be written', { path, message: messageOf(error) });
  return new AccessLog({ path, clock, onError });
}
