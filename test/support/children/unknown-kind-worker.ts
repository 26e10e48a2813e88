/** Replaces the feed thread: sends a message of an unknown kind, and finishes a turn. */
import type { FromWorker, ToWorker } from '../../../src/feeds/thread/protocol.ts';

declare const self: Worker;

const post = (message: FromWorker) => self.postMessage(message);

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'stop') return post({ kind: 'stopped' });
  self.postMessage({ kind: 'unknown' });
  post({ kind: 'turned' });
};
