import { isLate, type ListFeedStatus } from '../../api/model/feed-status.ts';
import type { Health, Phase } from '../../api/model/health.ts';
import type { Board } from '../../board/board.ts';
import {
  type ActiveAlarm,
  type FullDisk,
  fewInodes,
  fullDisk,
  lateFeedSeries,
  lateFeeds,
} from '../../ops/alarms.ts';
import type { Faults } from '../../ops/faults.ts';
import type { CertificateMonitor } from '../../ops/tls/certificate-monitor.ts';
import type { Clock } from '../../runtime/clock.ts';

export interface HealthSources {
  phase(): Phase;
  clock: Clock;
  board: Board;
  feeds: ListFeedStatus;
  faults: Faults;
  certificate: CertificateMonitor | undefined;
  simulated: boolean;
  /** The disk that is too full to accept prices. */
  diskToFree(): FullDisk | undefined;
  /** The disk of this machine, in words, that has hardly any inodes left. */
  diskWithFewInodes(): string | undefined;
}

/** Collects what `/health`, the alarms and the metrics report about this process. */
export class HealthReport {
  readonly #sources: HealthSources;

  constructor(sources: HealthSources) {
    this.#sources = sources;
  }

  readonly health = (): Health => {
    const { phase, clock, board, faults, feeds, simulated, diskToFree } = this.#sources;
    const known = feeds();
    const partial = known.filter(({ enabled, failing }) => enabled && failing.length > 0);
    return {
      phase: phase(),
      isLedgerUnusable: faults.isLedgerUnusable,
      alarms: this.alarms().map(({ name }) => name),
      diskFull: diskToFree() !== undefined,
      revision: board.revision,
      newestPriceAt: board.newest.priceAt,
      newestWriteAt: board.newest.writtenAt,
      simulated,
      lateFeeds: known.filter((feed) => isLate(feed, clock.now())).map(({ key }) => key),
      partialFeeds: partial.map(({ key }) => key),
    };
  };

  readonly alarms = (): ActiveAlarm[] => {
    const { clock, faults, certificate, feeds, diskToFree, diskWithFewInodes } = this.#sources;
    return [
      ...faults.alarms(),
      ...(certificate?.alarms() ?? []),
      ...lateFeeds(feeds, clock),
      ...lateFeedSeries(feeds, clock),
      ...fullDisk(diskToFree),
      ...fewInodes(diskWithFewInodes),
    ];
  };
}
