import { alarmKey } from '../ledger/operations/alarms.ts';
import { type Clock, elapsedMs } from '../runtime/clock.ts';
import type { Log } from '../runtime/log/log.ts';
import type { AlarmPoster } from './alarm-poster.ts';
import type { ActiveAlarm } from './alarms.ts';

export interface AlarmReporterOptions {
  current(): readonly ActiveAlarm[];
  clock: Clock;
  log: Log;
  /** Without it, alarms are only logged. */
  poster: AlarmPoster | undefined;
}

/** An alarm that has been logged. */
interface RaisedAlarm {
  alarm: ActiveAlarm;
  since: number;
  /** When it ended, by both clocks, while it may still return. */
  ended: { at: number; elapsed: number } | undefined;
}

/** An alarm is over after this time without it. The end of an outage, for example, can be followed by a few more failures. */
const OVER_AFTER_MS = 5_000;

/** Reports when an alarm begins and ends: in the log of every process, and to the operator's webhook. */
export class AlarmReporter {
  readonly #options: AlarmReporterOptions;
  readonly #raised = new Map<string, RaisedAlarm>();

  constructor(options: AlarmReporterOptions) {
    this.#options = options;
  }

  /** Logs first, and does not wait for the webhook. */
  run(): void {
    const { current, clock, poster } = this.#options;
    const alarms = new Map(current().map((alarm) => [alarmKey(alarm), alarm]));
    const now = { at: clock.now(), elapsed: elapsedMs(clock) };
    for (const [key, raised] of this.#raised) {
      if (alarms.has(key)) continue;
      raised.ended ??= now;
      if (now.elapsed - raised.ended.elapsed >= OVER_AFTER_MS)
        this.#clear(key, raised.alarm, raised.ended.at - raised.since);
    }
    for (const [key, alarm] of alarms) this.#raise(key, alarm, now.at);
    poster?.run((key) => this.#raised.has(key));
  }

  #raise(key: string, alarm: ActiveAlarm, now: number): void {
    const { log, poster } = this.#options;
    const raised = this.#raised.get(key);
    const hasReturned = raised?.ended !== undefined;
    const since = raised?.since ?? alarm.since ?? now;
    this.#raised.set(key, { alarm, since, ended: undefined });
    if (raised && (hasReturned || raised.alarm.version === alarm.version)) return;
    log.error('alarm', { name: alarm.name, ...alarm.event });
    poster?.begin(alarm, since);
  }

  #clear(key: string, alarm: ActiveAlarm, lastedMs: number): void {
    const { log, poster } = this.#options;
    const seconds = Math.max(0, Math.round(lastedMs / 1_000));
    this.#raised.delete(key);
    log.info('alarm is over', { name: alarm.name, seconds });
    poster?.end(alarm, seconds);
  }
}
