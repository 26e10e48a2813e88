import { MINUTE_MS } from '../durations.ts';
import type { Log } from './log.ts';

type Fields = Parameters<Log['warn']>[1];

interface Repeated {
  event: string;
  fields: Fields;
  count: number;
}

/** Beyond this many kinds per minute, warnings are logged one by one. */
const KINDS_MAX = 1_000;

/**
 * Logs the first warning of a kind and then, once a minute, how often it was repeated: a database outage of a minute
 * causes a handful of lines instead of hundreds. A kind is an event and its message, ignoring numbers.
 */
export function aggregateWarnings(log: Log, every = everyMinute): Log {
  const kinds = new Map<string, Repeated>();
  every(() => {
    for (const [kind, { event, fields, count }] of kinds) {
      if (count === 0) {
        kinds.delete(kind);
        continue;
      }
      log.warn(event, { ...fields, repeated: count });
      kinds.set(kind, { event, fields, count: 0 });
    }
  });
  return {
    ...log,
    warn(event, fields) {
      const kind = `${event} ${fields?.message ?? ''}`.replaceAll(/\d+/g, '#');
      const known = kinds.get(kind);
      if (known) {
        known.count++;
        return;
      }
      if (kinds.size < KINDS_MAX) kinds.set(kind, { event, fields, count: 0 });
      log.warn(event, fields);
    },
  };
}

function everyMinute(flush: () => void): void {
  setInterval(flush, MINUTE_MS).unref();
}
