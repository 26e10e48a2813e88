import { copyFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { COUNTED_ENDPOINTS } from '../../src/gate/endpoints.ts';
import { Lease } from '../../src/gate/meter/lease.ts';
import type { Spend } from '../../src/gate/meter/spend.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import { HOLD_MS, LEASE_MS } from '../../src/ledger/quota/rules.ts';
import { newFolder } from '../support/ledger.ts';
import { giveQuota } from '../support/quota.ts';
import { Faults, WAVE_MS } from './faults.ts';
import { emptyLedger, LedgerClock } from './ledger.ts';
import { Machine } from './machine.ts';
import type { Mix } from './mixes.ts';
import { Network } from './network.ts';
import { Tally } from './tally.ts';
import { Chance, World } from './world.ts';

/** A download costs several units at once. */
const UNITS_MAX = 12;

export interface Outcome {
  wrong: string[];
  admitted: number;
  refused: number;
  unavailable: number;
  kills: number;
}

const MONTH_START = Date.UTC(2026, 10, 1);

/**
 * One run: the real meters and the real ledger, on virtual time, with everything going wrong that the mix says. Then
 * all heals, every process says what it has, and the numbers must agree.
 */
export async function simulate(seed: number, mix: Mix): Promise<Outcome> {
  const run = await Run.open(seed, mix);
  try {
    return await run.play();
  } finally {
    await run.close();
  }
}

class Run {
  readonly #mix: Mix;
  readonly #chance: Chance;
  readonly #world: World;
  readonly #clock: LedgerClock;
  readonly #ledger: Ledger;
  readonly #path: string;
  readonly #tally: Tally;
  readonly #network: Network;
  readonly #machines: Machine[];
  readonly #faults: Faults;
  readonly #accounts: { id: string; quota: number }[] = [];
  readonly #leasesOf = new Map<Machine, Set<string>>();
  #isLowered = false;
  readonly #outcome = { wrong: [] as string[], admitted: 0, refused: 0, unavailable: 0 };

  private constructor(
    seed: number,
    mix: Mix,
    world: World,
    ledger: Ledger,
    path: string,
    clock: LedgerClock,
  ) {
    this.#clock = clock;
    this.#mix = mix;
    this.#world = world;
    this.#ledger = ledger;
    this.#path = path;
    this.#chance = new Chance(seed);
    this.#tally = new Tally(ledger);
    this.#network = new Network({
      world,
      chance: this.#chance,
      quota: ledger.quota,
      faults: mix.network,
      changed: () => this.#checkLedger(),
      released: (release) => this.#tally.aroundRelease(release, this.#clock.now()),
    });
    let ids = 0;
    this.#machines = Array.from(
      { length: this.#chance.int(1, 5) },
      () => new Machine(world, this.#network, this.#chance, () => `${seed}-${++ids}`),
    );
    this.#faults = new Faults({
      mix,
      chance: this.#chance,
      world,
      network: this.#network,
      machines: this.#machines,
      clock,
      changePlan: () => this.#changePlan(),
      lost: (machine) => this.#tally.lose(this.#leasesOf.get(machine) ?? new Set()),
    });
  }

  static async open(seed: number, mix: Mix): Promise<Run> {
    const start = mix.overMonthEnd
      ? MONTH_START - (WAVE_MS * ((seed % 7) + 1)) / 8
      : MONTH_START + 86_400_000;
    const world = new World(start);
    const path = join(newFolder(), 'ledger.db');
    copyFileSync(await emptyLedger(), path);
    const clock = new LedgerClock(world);
    const ledger = await Ledger.open(path, clock);
    return new Run(seed, mix, world, ledger, path, clock);
  }

  async play(): Promise<Outcome> {
    for (let i = this.#chance.int(1, 2); i > 0; i--) await this.#addAccount(`account-${i}`);
    for (const machine of this.#machines) void machine.start();
    this.#plan();
    await this.#world.runFor(Math.max(...this.#mix.wavesAtMinutes) * 60_000 + WAVE_MS);
    await this.#heal();
    await this.#spendTheRest();
    await this.#checkLedger();
    await this.#tally.compare(this.#clock.jumpedMs > 0);
    return {
      ...this.#outcome,
      kills: this.#faults.kills,
      wrong: [...this.#tally.wrong, ...this.#outcome.wrong],
    };
  }

  async close(): Promise<void> {
    await this.#ledger.close();
    rmSync(dirname(this.#path), { recursive: true });
    for (const machine of this.#machines) machine.discard();
  }

  /** Blocks of silent hosts may be let go in this run: the one exception to the promise. */
  get #mayMissSome(): boolean {
    return this.#mix.loseHost > 0 || this.#mix.ledgerJump > 0 || this.#mix.freezeMsMax > HOLD_MS;
  }

  async #addAccount(id: string): Promise<void> {
    const quota = this.#chance.pick([1, 7, 40, 200, 700]);
    await giveQuota(this.#ledger, id, quota);
    this.#accounts.push({ id, quota });
    this.#tally.quotaMax.set(id, quota);
  }

  /** Lays out the run: requests in bursts and trickles, questions about usage, and what goes wrong. */
  #plan(): void {
    const waves = this.#mix.wavesAtMinutes.map((minutes) => minutes * 60_000);
    for (const account of this.#accounts) {
      const requests = Math.ceil(account.quota * this.#chance.between(0.3, 2));
      const waveMs = this.#chance.between(100, WAVE_MS);
      for (let left = requests; left > 0; ) {
        const at = this.#chance.pick(waves) + this.#chance.between(0, waveMs);
        // One request anywhere, or a burst at one replica, which then holds more than it goes on to need.
        const burst = this.#chance.happens(0.9) ? 1 : this.#chance.int(2, Math.max(2, account.quota / 4));
        const machine = this.#chance.pick(this.#machines);
        for (let i = 0; i < burst && left > 0; i++, left--) {
          this.#world.after(at + this.#chance.between(0, 20), () =>
            this.#request(account, machine, this.#randomUnits()),
          );
        }
      }
      for (let i = 0; i < 4; i++) {
        this.#world.after(this.#chance.pick(waves) + this.#chance.between(0, WAVE_MS), () =>
          this.#askUsage(account),
        );
      }
    }
    for (const wave of waves) this.#faults.plan(wave);
  }

  #randomUnits(): number {
    return this.#chance.happens(0.9) ? 1 : this.#chance.int(2, UNITS_MAX);
  }

  #request(account: { id: string }, machine: Machine, units: number): void {
    machine.inProcess(() => {
      const endpoint = this.#chance.pick(COUNTED_ENDPOINTS);
      const spend = machine.meter?.spend(account, endpoint, undefined, units);
      if (spend instanceof Promise) {
        void spend.then((settled) => this.#settled(machine, account, units, settled));
      } else if (spend) this.#settled(machine, account, units, spend);
    });
  }

  #settled(machine: Machine, account: { id: string }, units: number, spend: Spend): void {
    if (spend.ok) {
      if (!(spend instanceof Lease)) throw new Error('a spend is its lease');
      const { leaseId } = spend.owner;
      this.#outcome.admitted++;
      this.#tally.admitted(spend, units);
      this.#leasesOf.set(machine, (this.#leasesOf.get(machine) ?? new Set()).add(leaseId));
      // The answer is on its way for a moment; a kill in between makes it one that was in flight.
      const { life } = machine;
      this.#world.after(this.#chance.between(0, 3), () =>
        machine.inProcess(() => {
          if (life === machine.life) this.#tally.answered(leaseId, units);
        }),
      );
    } else if (spend.reason === 'exhausted') {
      this.#outcome.refused++;
      if (this.#mix.name === 'calm') this.#checkRefusal(account.id, units);
    } else this.#outcome.unavailable++;
  }

  /** When nothing goes wrong, a request is refused only if fewer units are left than it needs. */
  #checkRefusal(id: string, units: number): void {
    const admitted = this.#tally.sumOf('admitted', id, periodOf(this.#clock.now()));
    if (admitted + units <= this.#tally.quotaMax.get(id)!)
      this.#outcome.wrong.push(`${id} was refused ${units} units at ${admitted}`);
  }

  #askUsage(account: { id: string }): void {
    const machine = this.#chance.pick(this.#machines);
    machine.inProcess(() => {
      const answered = this.#tally.snapshot('answered', account.id);
      const asked = machine.meter?.usage(account.id);
      asked?.then(
        ({ used, exact, period }) => {
          if (!exact || this.#mayMissSome) return;
          const least = answered.get(period) ?? 0;
          const most = this.#tally.sumOf('admitted', account.id, period);
          if (used >= least && used <= most) return;
          this.#outcome.wrong.push(`exact usage of ${account.id}: ${used}, not in ${least} to ${most}`);
        },
        () => {}, // the ledger was out of reach
      );
    });
  }

  #changePlan(): void {
    const account = this.#chance.pick(this.#accounts);
    const quota = Math.max(1, Math.floor(account.quota * this.#chance.between(0.5, 1.5)));
    if (quota < account.quota) this.#isLowered = true;
    account.quota = quota;
    this.#tally.quotaMax.set(account.id, Math.max(quota, this.#tally.quotaMax.get(account.id)!));
    this.#world.work(giveQuota(this.#ledger, account.id, quota));
  }

  /** The invariant, after every transaction. */
  async #checkLedger(): Promise<void> {
    this.#outcome.wrong.push(...(await this.#ledger.quota.check()));
    if (this.#isLowered || this.#mayMissSome) return;
    for (const { id, quota } of this.#accounts) {
      const rows = await this.#ledger.engine.read`SELECT granted FROM quota_period WHERE account_id = ${id}`;
      for (const { granted } of rows) {
        if (Number(granted) > quota) this.#outcome.wrong.push(`${id} has ${granted} of ${quota} granted`);
      }
    }
    if (this.#outcome.wrong.length > 0) throw new Error(this.#outcome.wrong.join('\n'));
  }

  /** Everything works again, every process is started that can be, and all of them close in good order. */
  async #heal(): Promise<void> {
    this.#network.isCalm = true;
    this.#network.isDown = false;
    await this.#world.runFor(Math.max(this.#mix.freezeMsMax, this.#mix.restartMsMax) + 15_000);
    if (this.#machines.some(({ isLost }) => isLost)) await this.#world.runFor(HOLD_MS + LEASE_MS + 120_000);
    for (const machine of this.#machines) {
      if (machine.isLost || machine.meter) continue;
      machine.kill(); // it may hang in its start, for a call that was lost
      await this.#world.until(machine.start());
    }
    await this.#world.runFor(5_000);
    for (const { meter } of this.#machines) if (meter) await this.#world.until(meter.close());
  }

  /** A new replica must be able to spend what is left of this month, to the last unit and no further. */
  async #spendTheRest(): Promise<void> {
    const machine = new Machine(
      this.#world,
      this.#network,
      this.#chance,
      () => `last-${this.#chance.next()}`,
    );
    this.#machines.push(machine);
    await this.#world.until(machine.start());
    const period = periodOf(this.#clock.now());
    for (const account of this.#accounts) {
      const { used } = await this.#ledger.quota.usage(account.id, period);
      const refused = this.#outcome.refused;
      for (let i = Math.min(used, account.quota); i <= account.quota; i++) this.#request(account, machine, 1);
      await this.#world.runFor(5_000);
      const after = await this.#world.until(machine.meter!.usage(account.id));
      const expected = Math.max(used, account.quota);
      if (after.used !== expected) {
        this.#outcome.wrong.push(
          `${account.id}: ${after.used} of ${account.quota} could be spent, from ${used}`,
        );
      }
      if (this.#outcome.refused === refused) this.#outcome.wrong.push(`${account.id} was never refused`);
    }
    await this.#world.until(machine.meter!.close());
  }
}
