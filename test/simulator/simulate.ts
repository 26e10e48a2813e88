import { copyFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { COUNTED_ENDPOINTS } from '../../src/gate/endpoints.ts';
import { Lease } from '../../src/gate/meter/lease.ts';
import type { Spend } from '../../src/gate/meter/spend.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { HOLD_MS, LEASE_MS } from '../../src/ledger/quota/model.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import { newFolder } from '../support/ledger.ts';
import { Accounts } from './accounts.ts';
import { Faults, WAVE_MS } from './faults.ts';
import { emptyLedger, LedgerClock } from './ledger.ts';
import { Machine } from './machine.ts';
import type { Mix } from './mixes.ts';
import { Network } from './network.ts';
import { Random } from './random.ts';
import { Tally } from './tally.ts';
import { VirtualTime } from './virtual-time.ts';

/** A download costs several units at once. */
const UNITS_MAX = 12;

export interface Outcome {
  violations: string[];
  admitted: number;
  refused: number;
  unavailable: number;
  kills: number;
}

const MONTH_START = Date.UTC(2026, 10, 1);

/**
 * One run: the real meters and the real ledger, on virtual time, with the faults of the mix. Then all faults stop, every process
 * reports its usage, and the numbers must agree.
 */
export async function simulate(seed: number, mix: Mix): Promise<Outcome> {
  const run = await Run.open(seed, mix);
  try {
    return await run.execute();
  } finally {
    await run.close();
  }
}

class Run {
  readonly #mix: Mix;
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #clock: LedgerClock;
  readonly #ledger: Ledger;
  readonly #path: string;
  readonly #tally: Tally;
  readonly #network: Network;
  readonly #machines: Machine[];
  readonly #faults: Faults;
  readonly #accounts: Accounts;
  readonly #leasesOf = new Map<Machine, Set<string>>();
  readonly #outcome = { violations: [] as string[], admitted: 0, refused: 0, unavailable: 0 };

  private constructor(
    seed: number,
    mix: Mix,
    time: VirtualTime,
    ledger: Ledger,
    path: string,
    clock: LedgerClock,
  ) {
    this.#clock = clock;
    this.#mix = mix;
    this.#time = time;
    this.#ledger = ledger;
    this.#path = path;
    this.#random = new Random(seed);
    this.#tally = new Tally(ledger);
    this.#accounts = new Accounts(ledger, this.#random, this.#tally);
    this.#network = new Network({
      time,
      random: this.#random,
      quota: ledger.quota,
      faults: mix.network,
      changed: () => this.#checkLedger(),
      released: (release) => this.#tally.aroundRelease(release, this.#clock.now()),
    });
    let ids = 0;
    this.#machines = Array.from({ length: this.#random.int(mix.joinMsMax > 0 ? 2 : 1, 5) }, () =>
      this.#newMachine(() => `${seed}-${++ids}`),
    );
    this.#faults = new Faults({
      mix,
      random: this.#random,
      time,
      network: this.#network,
      machines: this.#machines,
      clock,
      restarted: (machine) => {
        for (const account of this.#accounts.all) this.#readUsage(account, machine);
      },
      changePlan: () => this.#time.work(this.#accounts.changePlan()),
      lost: (machine) => this.#tally.lose(this.#leasesOf.get(machine) ?? new Set()),
    });
  }

  static async open(seed: number, mix: Mix): Promise<Run> {
    const start = mix.overMonthEnd
      ? MONTH_START - (WAVE_MS * ((seed % 7) + 1)) / 8
      : MONTH_START + 86_400_000;
    const time = new VirtualTime(start);
    const path = join(newFolder(), 'ledger.db');
    copyFileSync(await emptyLedger(), path);
    const clock = new LedgerClock(time);
    const ledger = await Ledger.open(path, clock);
    return new Run(seed, mix, time, ledger, path, clock);
  }

  async execute(): Promise<Outcome> {
    for (let i = this.#random.int(1, 2); i > 0; i--) await this.#accounts.add(`account-${i}`);
    this.#startMachines();
    this.#plan();
    await this.#time.runFor(Math.max(...this.#mix.wavesAtMinutes) * 60_000 + WAVE_MS);
    await this.#recover();
    await this.#spendTheRest();
    await this.#checkLedger();
    await this.#tally.compare(this.#clock.jumpedMs > 0);
    return {
      ...this.#outcome,
      kills: this.#faults.kills,
      violations: [...this.#tally.violations, ...this.#outcome.violations],
    };
  }

  #startMachines(): void {
    const [first, ...others] = this.#machines;
    void first!.start();
    for (const machine of others) {
      const joinMs = this.#mix.joinMsMax && this.#random.between(500, this.#mix.joinMsMax);
      this.#time.after(joinMs, () => void machine.start());
    }
  }

  async close(): Promise<void> {
    await this.#ledger.close();
    rmSync(dirname(this.#path), { recursive: true });
    for (const machine of this.#machines) machine.discard();
  }

  /** Whether leases of silent hosts may be released in this run: the only exception to the guarantee. */
  get #mayMissSome(): boolean {
    return this.#mix.loseHost > 0 || this.#mix.ledgerJump > 0 || this.#mix.freezeMsMax > HOLD_MS;
  }

  /** Schedules requests in bursts and trickles, reads of usage, and faults. */
  #plan(): void {
    const waves = this.#mix.wavesAtMinutes.map((minutes) => minutes * 60_000);
    for (const account of this.#accounts.all) {
      const requests = Math.ceil(account.quota * this.#random.between(0.3, 2));
      const waveMs = this.#random.between(100, WAVE_MS);
      for (let left = requests; left > 0; ) {
        const at = this.#random.pick(waves) + this.#random.between(0, waveMs);
        // One request anywhere, or a burst at one replica, which then holds more units than it needs.
        const burst = this.#random.happens(0.9) ? 1 : this.#random.int(2, Math.max(2, account.quota / 4));
        const machine = this.#random.pick(this.#machines);
        for (let i = 0; i < burst && left > 0; i++, left--) {
          this.#time.after(at + this.#random.between(0, 20), () =>
            this.#request(account, machine, this.#randomUnits()),
          );
        }
      }
      for (let i = 0; i < 4; i++) {
        this.#time.after(this.#random.pick(waves) + this.#random.between(0, WAVE_MS), () =>
          this.#readUsage(account, this.#random.pick(this.#machines)),
        );
      }
    }
    for (const wave of waves) this.#faults.plan(wave);
  }

  #randomUnits(): number {
    return this.#random.happens(0.9) ? 1 : this.#random.int(2, UNITS_MAX);
  }

  #request(account: { id: string }, machine: Machine, units: number): void {
    machine.inProcess(() => {
      const endpoint = this.#random.pick(COUNTED_ENDPOINTS);
      const spend = machine.spend(account.id, endpoint, units);
      if (spend instanceof Promise) {
        void spend.then((settled) => this.#settled(machine, account, units, settled));
      } else if (spend) this.#settled(machine, account, units, spend);
    });
  }

  #settled(machine: Machine, account: { id: string }, units: number, spend: Spend): void {
    if (spend.ok) {
      if (!(spend instanceof Lease)) throw new Error('a spend is its lease');
      const { leaseId } = spend;
      this.#outcome.admitted++;
      this.#tally.admitted(spend, units);
      this.#leasesOf.set(machine, (this.#leasesOf.get(machine) ?? new Set()).add(leaseId));
      // The response is in flight for a moment; a kill in that time loses it.
      const { life } = machine;
      this.#time.after(this.#random.between(0, 3), () =>
        machine.inProcess(() => {
          if (life === machine.life) this.#tally.answered(leaseId, units);
        }),
      );
    } else if (spend.reason === 'exhausted') {
      this.#outcome.refused++;
      if (isFaultless(this.#mix)) this.#checkRefusal(account.id, units);
    } else {
      this.#outcome.unavailable++;
      if (isFaultless(this.#mix)) this.#outcome.violations.push(`${account.id} was refused without a fault`);
    }
  }

  /** Without faults a request is refused only if fewer units are left than it needs. */
  #checkRefusal(id: string, units: number): void {
    const admitted = this.#tally.sumOf('admitted', id, periodOf(this.#clock.now()));
    if (admitted + units <= this.#tally.quotaMax.get(id)!)
      this.#outcome.violations.push(`${id} was refused ${units} units at ${admitted}`);
  }

  #readUsage(account: { id: string }, machine: Machine): void {
    machine.inProcess(() => {
      const answered = this.#tally.snapshot('answered', account.id);
      const usage = machine.meter?.usage(account.id);
      usage?.then(
        ({ used, exact, period }) => {
          if (!exact || this.#mayMissSome) return;
          const least = answered.get(period) ?? 0;
          const most = this.#tally.sumOf('admitted', account.id, period);
          if (used >= least && used <= most) return;
          this.#outcome.violations.push(`exact usage of ${account.id}: ${used}, not in ${least} to ${most}`);
        },
        () => {}, // the ledger was unreachable
      );
    });
  }

  /** Checks the invariant after every transaction. */
  async #checkLedger(): Promise<void> {
    this.#outcome.violations.push(...(await this.#ledger.quota.check()));
    if (this.#mayMissSome) return;
    this.#outcome.violations.push(...(await this.#accounts.grantedTooMuch()));
    if (this.#outcome.violations.length > 0) throw new Error(this.#outcome.violations.join('\n'));
  }

  /** Stops all faults, starts every process that can start, and closes all of them cleanly. */
  async #recover(): Promise<void> {
    this.#network.isCalm = true;
    this.#network.isDown = false;
    await this.#time.runFor(Math.max(this.#mix.freezeMsMax, this.#mix.restartMsMax) + 15_000);
    if (this.#machines.some(({ isLost }) => isLost)) await this.#time.runFor(HOLD_MS + LEASE_MS + 120_000);
    for (const machine of this.#machines) {
      if (machine.isLost || machine.meter) continue;
      machine.kill(); // its start may hang in a lost call
      await this.#time.until(machine.start());
    }
    await this.#time.runFor(5_000);
    for (const { meter } of this.#machines) if (meter) await this.#time.until(meter.close());
  }

  #newMachine(newId: () => string): Machine {
    const accountIds = () => this.#accounts.all.map(({ id }) => id);
    return new Machine(this.#time, this.#network, this.#random, newId, accountIds);
  }

  /** A new replica must be able to spend the rest of the month's quota, to the last unit and no more. */
  async #spendTheRest(): Promise<void> {
    const machine = this.#newMachine(() => `last-${this.#random.next()}`);
    this.#machines.push(machine);
    await this.#time.until(machine.start());
    const period = periodOf(this.#clock.now());
    for (const account of this.#accounts.all) {
      const { used } = await this.#ledger.quota.usage(account.id, period);
      const refused = this.#outcome.refused;
      for (let i = Math.min(used, account.quota); i <= account.quota; i++) this.#request(account, machine, 1);
      await this.#time.runFor(5_000);
      const after = await this.#time.until(machine.meter!.usage(account.id));
      const expected = Math.max(used, account.quota);
      if (after.used !== expected) {
        this.#outcome.violations.push(
          `${account.id}: ${after.used} of ${account.quota} could be spent, from ${used}`,
        );
      }
      if (this.#outcome.refused === refused) this.#outcome.violations.push(`${account.id} was never refused`);
    }
    await this.#time.until(machine.meter!.close());
  }
}

function isFaultless({ name }: Mix): boolean {
  return name === 'calm' || name === 'processes that join a sole holder';
}
