import packageJson from '../package.json';
import { Api } from './api/api.ts';
import type { Phase } from './api/operations.ts';
import { type Listener, listen } from './api/server.ts';
import { Board } from './board/board.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { decideDemo, demoKey } from './demo.ts';
import { startFeeds } from './feeds/feeds.ts';
import { Gate } from './gate/gate.ts';
import { Tally } from './gate/tally.ts';
import { Ledger } from './ledger/ledger.ts';
import { type Log, messageOf } from './log.ts';

export interface Service {
  readonly url: string;
  /** The key of the demo account, when prices are simulated. */
  readonly demoKey: string | undefined;
  /** Resolves when history is there and requests are answered. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** How often another process's writes are looked for. 200 ms: well under the half second that is promised. */
const FOLLOW_EVERY_MS = 200;

export const VERSION = packageJson.version;

/** Opens everything in order and closes it in reverse. */
export async function startService(config: Config, clock: Clock, log: Log): Promise<Service> {
  const ledger = await Ledger.open(config.databaseUrl, clock);
  const demo = await decideDemo(config, ledger);
  const key = demo ? await demoKey(config, ledger, clock.now()) : undefined;
  const gate = await Gate.open({ ledger, clock, failedKeysPerMinute: config.failedKeysPerMinute });
  const delays = [...gate.directory.plans].map((plan) => plan.delaySeconds * 1000);
  const board = await Board.open(
    { ledger, clock, historyBytesMax: config.historyMb * 1024 * 1024, simulated: config.demo !== 'off' },
    delays,
  );

  let phase: Phase = 'starting';
  const ready = Promise.withResolvers<void>();
  const api = new Api({
    board,
    gate,
    meter: new Tally(),
    clock,
    log,
    mounts: config.mounts,
    trustedProxies: config.trustedProxies,
    adminToken: config.adminToken,
    version: VERSION,
    health: () => ({ phase, revision: board.revision, newestAt: board.newestAt, simulated: demo }),
    gauges: [
      { name: 'openpit_revision', help: 'Price revision of the board.', value: () => board.revision },
      { name: 'openpit_history_bytes', help: 'Price history in memory.', value: () => board.bytes },
      { name: 'openpit_keys_cached', help: 'API keys in memory.', value: () => gate.directory.size },
      {
        name: 'openpit_ready',
        help: '1 when requests are answered.',
        value: () => Number(phase === 'ready'),
      },
    ],
  });

  const follow = async () => {
    try {
      const head = await ledger.head();
      await gate.follow(head);
      await board.follow(head);
    } catch (error) {
      log.warn('the ledger could not be followed', { message: messageOf(error) });
    }
  };
  const following = repeat(follow, FOLLOW_EVERY_MS);

  const listener: Listener = listen(api, config.host, config.port);
  const becomeReady = async () => {
    await follow();
    phase = 'ready';
    ready.resolve();
    log.info('ready', { url: listener.url, revision: board.revision, simulated: demo });
  };
  // A ledger that has prices answers at once; a new demo waits for its first history.
  const waitsForHistory = demo && (await ledger.isEmpty());
  const feeds = startFeeds({
    ledgerUrl: config.databaseUrl,
    demo,
    onWritten: () => following.now(),
    onProgress: (done, total) => log.debug('simulated history', { done, total }),
    onReady: () => void (waitsForHistory && becomeReady()),
    onError: (message) => log.warn('feeds', { message }),
  });
  if (!waitsForHistory) await becomeReady();

  return {
    url: listener.url,
    demoKey: key,
    ready: ready.promise,
    async stop() {
      phase = 'draining';
      log.info('stopping');
      await listener.stop(config.drainSeconds * 1000);
      await feeds.stop();
      await following.stop();
      await ledger.close();
    },
  };
}

/** Does a job again and again, never twice at a time; `now` has it done once more as soon as it can be. */
function repeat(job: () => Promise<void>, everyMs: number): { now(): void; stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  let again = false;
  const run = () => {
    again = true;
    running ??= (async () => {
      while (again) {
        again = false;
        await job();
      }
      running = undefined;
    })();
  };
  const timer = setInterval(run, everyMs);
  return {
    now: run,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
