import { rmSync } from 'node:fs';
import { Meter } from '../../src/gate/meter.ts';
import type { LockSlot } from '../../src/gate/slot-lock.ts';
import { newFolder } from '../support/ledger.ts';
import type { Network } from './network.ts';
import type { Chance, World } from './world.ts';

/** One replica on a host of its own: wrong clocks, a disk that outlives the process, and things that happen to it. */
export class Machine {
  readonly #world: World;
  readonly #network: Network;
  readonly #chance: Chance;
  readonly #newId: () => string;
  readonly #disk = newFolder();
  readonly #wallOffset: number;
  readonly #drift: number;
  #sleptMs = 0;
  #life = 0;
  #locks = new Set<string>();
  /** While the process stands still: what happens when it goes on. */
  #frozen: (() => void)[] | undefined;
  meter: Meter | undefined;
  isLost = false;

  constructor(world: World, network: Network, chance: Chance, newId: () => string) {
    this.#world = world;
    this.#network = network;
    this.#chance = chance;
    this.#newId = newId;
    this.#wallOffset = chance.between(-7_200_000, 7_200_000);
    this.#drift = 1 + chance.between(-0.0005, 0.0005);
  }

  /** Which run of the process this is: what an older one left under way never arrives. */
  get life(): number {
    return this.#life;
  }

  async start(): Promise<void> {
    const life = ++this.#life;
    this.#frozen = undefined;
    const deliver = (call: () => void) => this.#inLife(life, call);
    try {
      const meter = await Meter.open({
        ledger: { quota: this.#network.callsFor(deliver) },
        clock: { now: () => Math.round(this.#world.now + this.#wallOffset) },
        monotonic: { now: () => (this.#world.now - this.#sleptMs) * this.#drift },
        scheduler: { after: (ms, call) => this.#world.after(ms, () => this.#inLife(life, call)) },
        spoolDir: this.#disk,
        spoolRecordsPerFile: 4,
        newId: this.#newId,
        lock: this.#lock,
      });
      if (life === this.#life) this.meter = meter;
    } catch {
      // The ledger was out of reach: a supervisor would start it again.
      this.#world.after(1_000, () => this.#inLife(life, () => void this.start()));
      this.#locks.clear();
    }
  }

  /** SIGKILL: nothing of the process runs on, its locks fall, and its disk stays. */
  kill(): void {
    this.#life++;
    this.meter = undefined;
    this.#locks.clear();
    this.#frozen = undefined;
  }

  /** Takes its disk away, after the run. */
  discard(): void {
    rmSync(this.#disk, { recursive: true });
  }

  /** The process stands still. When the whole machine sleeps, its monotonic clock stands still too. */
  freeze(ms: number, machineSleeps: boolean): void {
    if (this.#frozen) return;
    this.#frozen = [];
    const life = this.#life;
    this.#world.after(ms, () => {
      if (life !== this.#life) return;
      if (machineSleeps) this.#sleptMs += ms;
      const pending = this.#frozen ?? [];
      this.#frozen = undefined;
      // In any order: a request may well be served before the timers that were due.
      while (pending.length > 0)
        this.#inLife(life, pending.splice(this.#chance.int(0, pending.length - 1), 1)[0]!);
    });
  }

  /** Does something in the process as soon as it runs; never when it has been killed meanwhile. */
  inProcess(call: () => void): void {
    this.#inLife(this.#life, call);
  }

  #inLife(life: number, call: () => void): void {
    if (life !== this.#life) return;
    if (this.#frozen) this.#frozen.push(call);
    else call();
  }

  /** The real lock falls with the process; here the process is not a real one. */
  readonly #lock: LockSlot = (path) => {
    if (this.#locks.has(path)) return undefined;
    this.#locks.add(path);
    return { release: () => this.#locks.delete(path) };
  };
}
