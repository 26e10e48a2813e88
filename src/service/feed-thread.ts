import type { Config } from '../config.ts';
import { startFeeds } from '../feeds/thread/client.ts';
import type { Log } from '../runtime/log/log.ts';
import type { Core } from './core.ts';

/** Starts the feed thread, which from then on also stores pushed prices. */
export function startFeedThread(
  config: Config,
  core: Core,
  log: Log,
  { onWritten, onReady }: { onWritten(): void; onReady(): void },
): ReturnType<typeof startFeeds> {
  const { faults } = core;
  const feeds = startFeeds({
    ledgerUrl: config.databaseUrl,
    demo: core.demo,
    secrets: config.secrets,
    retention: config.retention,
    latency: core.feedsLatency,
    onWritten,
    onReady,
    onProgress: (done, total) => {
      faults.feeds.succeeded(); // writing the first simulated history is one long turn
      log.debug('simulated history', { done, total });
    },
    onTurn: () => faults.feeds.succeeded(),
    onRun: (run) => core.ingestMetrics.countRun(run),
    onFailure: (message) => {
      faults.feeds.failed(message);
      faults.damage.observe(message);
      log.warn('feeds', { message });
    },
    onError: (message) => log.warn('feeds', { message }),
  });
  core.push = (push) => feeds.push(push);
  faults.ledger.onUnreachable(() => feeds.failPushes());
  faults.feeds.start();
  return feeds;
}
