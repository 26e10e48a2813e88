/** Replaces the reader worker in tests. The query tells it what to do. */
import type { FromReader, ToReader } from '../../../src/api/ledger-reads/protocol.ts';

declare const self: Worker;

const post = (message: FromReader) => self.postMessage(message);

self.onmessage = async ({ data }: MessageEvent<ToReader>) => {
  if (data.kind === 'stop') post({ kind: 'stopped' });
  if (data.kind !== 'read') return;
  const { query } = data.request;
  if (query === 'die') setTimeout(() => (undefined as unknown as { die(): void }).die(), 1);
  else if (query === 'outage') {
    post({
      kind: 'failed',
      error: { error: { message: 'gone', code: 'ERR_POSTGRES_CONNECTION_CLOSED' } },
    });
  } else {
    const gate = new BroadcastChannel('scripted-reader');
    if (query.startsWith('wait')) {
      const goOn = new Promise<void>((resolve) => {
        gate.addEventListener('message', ({ data }) => data === 'go on' && resolve());
      });
      gate.postMessage('waiting');
      await goOn;
    }
    gate.close();
    post({
      kind: 'response',
      response: {
        packet: new Uint8Array(0),
        length: 0,
        contentFrom: 0,
        type: query,
        gzipped: undefined,
        finality: 'open',
        next: undefined,
        warnings: [],
        columns: [],
        rows: 0,
        isWide: false,
        revision: 0,
        hiddenAfter: undefined,
        isFromStandby: false,
        isChanged: false,
      },
    });
  }
};
