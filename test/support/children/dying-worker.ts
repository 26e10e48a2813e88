/** Replaces the feed thread: reports ready and crashes on the first push. */
import type { FromWorker, ToWorker } from '../../../src/feeds/thread/protocol.ts';

declare const self: Worker;

const post = (message: FromWorker) => self.postMessage(message);

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'start') post({ kind: 'ready' });
  else if (data.kind === 'stop') post({ kind: 'stopped' });
  else if (data.push.source === 'good') post({ kind: 'pushed', number: data.number, outcomes: '[]' });
  else setTimeout(() => (undefined as unknown as { die(): void }).die(), 5);
};
