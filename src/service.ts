import { type Listener, listen, requireFreePort } from './api/server.ts';
import type { ProcessSharing } from './api/telemetry/sharing.ts';
import type { Config } from './config.ts';
import type { Clock } from './runtime/clock.ts';
import type { Log } from './runtime/log/log.ts';
import { type Core, openCore } from './service/core.ts';
import { startFeedThread } from './service/feed-thread.ts';
import { createHeartbeat } from './service/heartbeat.ts';
import { type Loops, startLoops } from './service/loops.ts';
import { warmUp } from './service/warm-up.ts';

/** The role of a process among those that share a port. */
export interface ProcessRole {
  /** Whether other processes listen on the same port. */
  shared: boolean;
  /** Whether none of them listens yet. Another service may have started to listen on the port since it was chosen. */
  isFirst?: boolean;
  /** Whether this process runs the feeds. */
  feeds: boolean;
  /** How metrics and traffic of the other processes are collected. */
  sharing?: ProcessSharing;
}

export interface Service {
  readonly url: string;
  /** The key of the demo account, when prices are simulated. */
  readonly demoKey: string | undefined;
  /** Resolves when history is loaded and requests are answered. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** The feed thread gets at least this long to stop, even when draining used up its time. */
const FEEDS_STOP_MS_MIN = 1_000;

/** Starts the parts in order. `stop` stops them in reverse, as does a start that fails. */
export async function startService(
  config: Config,
  clock: Clock,
  log: Log,
  role: ProcessRole = { shared: false, feeds: true },
): Promise<Service> {
  await using opened = new AsyncDisposableStack(); // until the last step has succeeded; then `stop` closes
  const core = opened.adopt(await openCore(config, clock, log, role.sharing), (one) => one.close());
  const loops = opened.adopt(startLoops(core, clock, log), (one) => one.stop());
  const heartbeat = createHeartbeat(core, log);
  const stopping = new AbortController();
  opened.defer(() => stopping.abort());
  // A ledger with prices is served from the first request on. A new demo answers 503 until its history is written.
  const awaitsHistory = core.demo && role.feeds && (await core.ledger.isEmpty());
  const becomeReady = async () => {
    await loops.follow();
    if (stopping.signal.aborted) return; // it was stopped while its demo wrote the history
    core.phase = 'ready';
    await warmUp(core, { clock, log, signal: stopping.signal, mayLease: !role.shared });
  };
  if (!awaitsHistory) await becomeReady();
  const listener = opened.adopt(startListening(core, loops, config, role), (one) => one.stop(0));
  const ready = Promise.withResolvers<void>();
  const announceReady = () => {
    ready.resolve();
    log.info('ready', { url: listener.url, revision: core.board.revision, simulated: core.demo });
  };
  const onHistoryWritten = async () => {
    await becomeReady();
    if (stopping.signal.aborted) return;
    heartbeat.beat();
    announceReady();
  };
  const feeds =
    role.feeds &&
    startFeedThread(config, core, log, {
      onWritten: () => void loops.follow(),
      onReady: () => void (awaitsHistory && onHistoryWritten()),
    });
  core.faults.follower.start();
  core.faults.ledger.start();
  if (!awaitsHistory) announceReady();
  heartbeat.start();
  opened.move();

  return {
    url: listener.url,
    demoKey: core.demoKey,
    ready: ready.promise,
    async stop() {
      stopping.abort();
      core.phase = 'draining';
      log.info('stopping');
      core.api.drain();
      heartbeat.beat();
      const endsAt = performance.now() + config.drainSeconds * 1000;
      await listener.stop(config.drainSeconds * 1000);
      // Together: each of them may wait for a ledger that does not answer.
      await Promise.all([
        feeds ? feeds.stop(Math.max(FEEDS_STOP_MS_MIN, endsAt - performance.now())) : undefined,
        loops.stop(),
        heartbeat.stop(),
      ]);
      await core.close();
    },
  };
}

/** Listens for requests. A renewed certificate is used from its next connection on. */
function startListening(core: Core, loops: Loops, config: Config, role: ProcessRole): Listener {
  const { api, certificate } = core;
  if (role.isFirst) requireFreePort(config.host, config.port);
  const listener = listen(api, {
    hostname: config.host,
    port: config.port,
    isShared: role.shared,
    tls: certificate?.credentials,
    http: config.http,
  });
  if (certificate) {
    certificate.onRenewed = (credentials) => listener.setCredentials(credentials);
    loops.watchCertificate(() => certificate.check());
  }
  return listener;
}
