import type { ReaderPool } from '../../api/ledger-reads/reader-pool.ts';
import type { ListFeedStatus } from '../../api/model/feed-status.ts';
import { isReady } from '../../api/model/health.ts';
import type { IngestMetrics } from '../../api/telemetry/ingest-metrics.ts';
import type { Gauge } from '../../api/telemetry/metrics.ts';
import type { Board } from '../../board/board.ts';
import type { Faults } from '../../ops/faults.ts';
import { faultGauges } from '../../ops/gauges/fault-gauges.ts';
import { feedGauges } from '../../ops/gauges/feed-gauges.ts';
import { type ProcessFacts, processGauges } from '../../ops/gauges/process-gauges.ts';
import { type BackgroundWork, workGauges } from '../../ops/gauges/work-gauges.ts';
import type { CertificateMonitor } from '../../ops/tls/certificate-monitor.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AccessLog } from '../../runtime/log/access-log.ts';
import type { LoopMonitor } from '../../runtime/metrics/loop-monitor.ts';
import type { HealthReport } from './health.ts';

export interface GaugeSources extends BackgroundWork {
  clock: Clock;
  report: HealthReport;
  faults: Faults;
  board: Board;
  readers: ReaderPool;
  cacheGauges: readonly Gauge[];
  process: ProcessFacts;
  loop: LoopMonitor;
  accessLog: AccessLog | undefined;
  feeds: ListFeedStatus;
  ingestMetrics: IngestMetrics;
  certificate: CertificateMonitor | undefined;
  hasDiskSpace(): boolean;
}

/** Every metric except those of requests, in the order of `/metrics`. */
export function serviceGauges(sources: GaugeSources): Gauge[] {
  const { report, faults, board, readers, accessLog, feeds, clock, certificate, hasDiskSpace } = sources;
  return [
    ...faultGauges(() => isReady(report.health()), faults, report.alarms),
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
      type: 'counter',
      value: () => readers.reads,
    },
    ...sources.cacheGauges,
    {
      name: 'openpit_disk_full',
      help: '1 when the disk is nearly full and no prices are accepted.',
      value: () => Number(!hasDiskSpace()),
    },
    ...processGauges(sources.process, sources.loop),
    {
      name: 'openpit_access_log_dropped_total',
      help: 'Access log lines that could not be written.',
      type: 'counter',
      value: () => accessLog?.dropped ?? 0,
    },
    ...feedGauges(feeds, clock),
    ...sources.ingestMetrics.gauges(),
    ...workGauges(sources),
    ...(certificate?.gauges() ?? []),
  ];
}
