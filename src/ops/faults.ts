import type { Clock } from '../runtime/clock.ts';
import { processName } from '../runtime/process-name.ts';
import type { ActiveAlarm } from './alarms.ts';
import { DamageMonitor } from './damage-monitor.ts';
import { LedgerMonitor, type LedgerMonitorOptions } from './ledger-monitor.ts';
import { type OngoingFault, WorkMonitor } from './work-monitor.ts';

/** Longer than the timeout of a hung feed statement (11 s), so that the end of an outage does not raise a second alarm. */
const FEEDS_LIMITS = { failingMs: 15_000, silentMs: 120_000 };
const FOLLOWER_LIMITS = { failingMs: 15_000, silentMs: 60_000 };

export interface FaultsOptions extends Omit<LedgerMonitorOptions, 'onRecovered'> {
  /** Checks the whole ledger for damage. */
  isSound(): Promise<boolean>;
}

/** Faults of this process and its ledger, detected without the ledger. */
export class Faults {
  readonly #clock: Clock;
  readonly ledger: LedgerMonitor;
  readonly damage: DamageMonitor;
  readonly feeds: WorkMonitor;
  readonly follower: WorkMonitor;

  constructor(options: FaultsOptions) {
    const { clock } = options;
    this.#clock = clock;
    this.feeds = new WorkMonitor(clock, FEEDS_LIMITS);
    this.follower = new WorkMonitor(clock, FOLLOWER_LIMITS);
    this.damage = new DamageMonitor(clock, options.isSound);
    this.ledger = new LedgerMonitor({
      ...options,
      onRecovered: () => {
        this.feeds.restart();
        this.follower.restart();
      },
    });
  }

  /** Whether requests that need the ledger would fail. */
  get isLedgerUnusable(): boolean {
    return this.ledger.outage !== undefined || this.damage.damage !== undefined;
  }

  /** When the ledger fails, feeds and follower fail with it: that is one alarm, not three. */
  alarms(): ActiveAlarm[] {
    const { outage } = this.ledger;
    const { damage } = this.damage;
    if (outage) return [{ ...this.#alarm('ledger.unreachable', outage), version: String(outage.number) }];
    if (damage) return [this.#alarm('ledger.corrupt', damage)];
    return (['feeds', 'follower'] as const).flatMap((part) => {
      const { fault } = this[part];
      return fault ? { ...this.#alarm(`${part}.failing`, fault), subject: { process: processName() } } : [];
    });
  }

  stop(): void {
    this.ledger.stop();
    this.damage.stop();
  }

  #alarm(type: string, { since, reason }: OngoingFault): ActiveAlarm {
    const began = new Date(Math.min(since, this.#clock.now())).toISOString();
    return { name: type, since, event: { type, since: began, reason, process: processName() } };
  }
}
