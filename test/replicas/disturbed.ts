import { TcpProxy } from '../support/http/tcp-proxy.ts';
import { ownPostgres } from '../support/postgres.ts';
import type { Comings } from './outage.ts';

/** A PostgreSQL of its own that can go away in three ways. */
export interface Disturbed {
  url: string;
  /** The way there that can be disturbed. */
  through: string;
  ways: Record<'stop' | 'hole' | 'slow', Comings>;
  remove(): Promise<void>;
}

/** Each way. */
const SLOW_MS = 25;

export async function disturbed(): Promise<Disturbed> {
  const database = await ownPostgres();
  const proxy = await TcpProxy.open(Number(new URL(database.url).port));
  return {
    url: database.url,
    through: proxy.through(database.url),
    ways: {
      stop: { goAway: database.stop, comeBack: database.start },
      hole: {
        goAway: async () => {
          proxy.swallow = true;
        },
        comeBack: async () => {
          proxy.swallow = false;
        },
      },
      slow: {
        goAway: async () => {
          proxy.delayMs = SLOW_MS;
        },
        comeBack: async () => {
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
