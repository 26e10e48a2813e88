/** Worker that prepares responses from the ledger: SQLite blocks the thread it is called on. */

import { Ledger } from '../../ledger/ledger.ts';
import { systemClock } from '../../runtime/clock.ts';
import { lowerPriority } from '../../runtime/threads/lower-priority.ts';
import { LedgerReader } from './ledger-reader.ts';
import { packError } from './packed-error.ts';
import type { FromReader, LedgerRequest, ReaderSettings, ToReader } from './protocol.ts';
import { Standby } from './standby.ts';

declare const self: Worker;

lowerPriority();
let settings: ReaderSettings | undefined;
let ledger: Ledger | undefined;
let reader: LedgerReader | undefined;
let standby: Standby | undefined;

self.onmessage = ({ data }: MessageEvent<ToReader>) => {
  if (data.kind === 'start') start(data.settings);
  else if (data.kind === 'read') void read(data.request);
  else void stop();
};

function start(received: ReaderSettings): void {
  const { standbyUrl, simulated } = received;
  settings = received;
  if (standbyUrl !== undefined) standby = new Standby(standbyUrl, systemClock, simulated);
}

async function read(request: LedgerRequest): Promise<void> {
  try {
    const response =
      (await standby?.respond(request)) ?? (await (await openReader(settings!)).respond(request));
    const buffers = [response.packet.buffer, ...(response.gzipped ? [response.gzipped.buffer] : [])];
    post({ kind: 'response', response }, buffers);
  } catch (error) {
    post({ kind: 'failed', error: packError(error) });
  }
}

/** Opens the ledger on the first read that can reach it. */
async function openReader({ ledgerUrl, simulated }: ReaderSettings): Promise<LedgerReader> {
  ledger ??= await Ledger.openForReading(ledgerUrl, systemClock);
  reader ??= await LedgerReader.open(ledger, systemClock, simulated);
  return reader;
}

async function stop(): Promise<void> {
  await Promise.allSettled([ledger?.close(), standby?.close()]);
  post({ kind: 'stopped' });
}

function post(message: FromReader, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}
