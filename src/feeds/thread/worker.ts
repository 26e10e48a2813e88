/** The feed thread. SQLite runs on its caller's thread, and a response must never wait for a write. */

import { LedgerLatency } from '../../ledger/engine/latency.ts';
import { systemClock } from '../../runtime/clock.ts';
import { lowerPriority } from '../../runtime/threads/lower-priority.ts';
import { PROVIDERS } from '../providers/index.ts';
import { FeedLoop } from './loop.ts';
import { unpackPush } from './packed-push.ts';
import type { FeedSettings, FromWorker, ToWorker } from './protocol.ts';

declare const self: Worker;

/** Until the service is ready, no request competes with this thread: filling a demo would only take longer. */
const post = (message: FromWorker) => {
  if (message.kind === 'ready') lowerPriority();
  self.postMessage(message);
};
let loop: FeedLoop | undefined;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case 'start':
      return start(data.settings);
    case 'push':
      return void loop?.push(data.number, unpackPush(data.push));
    case 'stop':
      return loop ? loop.stop() : post({ kind: 'stopped' });
    default:
      data satisfies never;
  }
};

function start({ ledgerUrl, demo, secrets, retention, clockSkewMs, latency }: FeedSettings): void {
  loop = new FeedLoop({
    ledgerUrl,
    demo,
    clock: { now: () => systemClock.now() + clockSkewMs },
    post,
    setup: { providers: PROVIDERS, secrets },
    retention,
    latency: new LedgerLatency(latency),
  });
  loop.run();
}
