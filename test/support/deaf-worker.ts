/** Stands for the feed thread: says that it is ready, and never stops, as one that hangs in a call does. */
import type { FromWorker, ToWorker } from '../../src/feeds/thread/protocol.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'start') self.postMessage({ kind: 'ready' } satisfies FromWorker);
};
