import { TcpProxy } from '../support/http/tcp-proxy.ts';
import { ownPostgres } from '../support/postgres.ts';
import type { LedgerFault } from './outage.ts';

/** A PostgreSQL of the test's own, with three faults that can be switched on and off. */
export interface FaultyPostgres {
  url: string;
  /** The URL through the proxy that causes the faults. */
  through: string;
  faults: Record<'stop' | 'hole' | 'slow', LedgerFault>;
  remove(): Promise<void>;
}

/** The latency that the fault `slow` adds in each direction. */
const SLOW_MS = 25;

export async function startFaultyPostgres(): Promise<FaultyPostgres> {
  const database = await ownPostgres();
  const proxy = await TcpProxy.open(Number(new URL(database.url).port));
  return {
    url: database.url,
    through: proxy.through(database.url),
    faults: {
      stop: { begin: database.stop, end: database.start },
      hole: {
        begin: async () => {
          proxy.swallow = true;
        },
        end: async () => {
          proxy.swallow = false;
        },
      },
      slow: {
        begin: async () => {
          proxy.delayMs = SLOW_MS;
        },
        end: async () => {
          proxy.delayMs = 0;
        },
      },
    },
    async remove() {
      await proxy.close();
      await database.remove();
    },
  };
}
