/** The feed thread. SQLite runs on its caller's thread, and a response must never wait for a write. */

import { LedgerLatency } from '../../ledger/engine/latency.ts';
import { systemClock } from '../../runtime/clock.ts';
import { lowerPriority } from '../../runtime/threads/lower-priority.ts';
import { PROVIDERS } from '../providers/index.ts';
import { FeedLoop } from './loop.ts';
import { unpackPush } from './packed-push.ts';
import type { FromWorker, ToWorker } from './protocol.ts';

declare const self: Worker;

/** Until the service is ready, no request competes with this thread: filling a demo would only take longer. */
const post = (message: FromWorker) => {
  if (message.kind === 'ready') lowerPriority();
  self.postMessage(message);
};
let loop: FeedLoop | undefined;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'push') {
    void loop?.push(data.number, unpackPush(data.push));
    return;
  }
  if (data.kind === 'stop') {
    if (loop) loop.stop();
    else post({ kind: 'stopped' });
    return;
  }
  const { ledgerUrl, demo, secrets, retention, clockSkewMs } = data.settings;
  const clock = { now: () => systemClock.now() + clockSkewMs };
  const latency = new LedgerLatency(data.settings.latency);
  loop = new FeedLoop({
    ledgerUrl,
    demo,
    clock,
    post,
    setup: { providers: PROVIDERS, secrets },
    retention,
    latency,
  });
  loop.run();
};
