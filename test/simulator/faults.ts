import type { LedgerClock } from './ledger.ts';
import type { Machine } from './machine.ts';
import type { Mix } from './mixes.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Requests and faults come in waves of this length. */
export const WAVE_MS = 12_000;

interface Parts {
  mix: Mix;
  random: Random;
  time: VirtualTime;
  network: Network;
  machines: readonly Machine[];
  clock: LedgerClock;
  changePlan: () => void;
  /** A killed process serves again: it may not have taken over all of its leases. */
  restarted: (machine: Machine) => void;
  /** A host is lost for good, with its unreported usage. */
  lost: (machine: Machine) => void;
}

/** Injects the faults of a run into processes, hosts, the network and the ledger's clock. */
export class Faults {
  readonly #parts: Parts;
  kills = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Schedules each fault at its average rate per second, from `wave` on. */
  plan(wave: number): void {
    const { mix, random, time, clock, changePlan } = this.#parts;
    const faults: [number, () => void][] = [
      [mix.kill, () => this.#kill()],
      [mix.outage, () => this.#outage()],
      [mix.freeze, () => this.#freeze()],
      [mix.loseHost, () => this.#loseHost()],
      [mix.ledgerJump, () => clock.jump(mix.ledgerJumpMs)],
      [mix.changePlan, changePlan],
    ];
    for (let second = 0; second < WAVE_MS / 1_000; second++) {
      for (const [perSecond, happen] of faults) {
        for (let left = perSecond; left > 0; left--) {
          if (!random.happens(left)) continue;
          time.after(wave + second * 1_000 + random.between(0, 1_000), happen);
        }
      }
    }
  }

  #kill(): void {
    const { mix, random, time, machines, restarted } = this.#parts;
    const machine = random.pick(machines);
    if (machine.isLost) return;
    this.kills++;
    machine.kill();
    const { life } = machine;
    time.after(random.between(0, mix.restartMsMax), () => {
      if (life === machine.life) void machine.start().then(() => restarted(machine));
    });
  }

  #outage(): void {
    const { random, time, network } = this.#parts;
    network.isDown = true;
    time.after(random.between(100, 6_000), () => {
      network.isDown = false;
    });
  }

  #freeze(): void {
    const { random, machines } = this.#parts;
    const { freezeMsMax } = this.#parts.mix;
    const longest = random.happens(0.5) ? freezeMsMax : Math.min(3_000, freezeMsMax);
    random.pick(machines).freeze(random.between(10, longest), random.happens(0.5));
  }

  #loseHost(): void {
    const { random, machines, lost } = this.#parts;
    const machine = random.pick(machines);
    if (machines.filter(({ isLost }) => !isLost).length < 2) return;
    machine.kill();
    machine.isLost = true;
    lost(machine);
  }
}
