/** Replaces the feed thread: reports ready and never stops, as if it hung in a call. */
import type { FromWorker, ToWorker } from '../../../src/feeds/thread/protocol.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'start') self.postMessage({ kind: 'ready' } satisfies FromWorker);
};
