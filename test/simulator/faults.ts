import type { LedgerClock } from './ledger.ts';
import type { Machine } from './machine.ts';
import type { Mix } from './mixes.ts';
import type { Network } from './network.ts';
import type { Chance, World } from './world.ts';

/** Requests, and what goes wrong among them, come in waves of so long. */
export const WAVE_MS = 12_000;

interface Parts {
  mix: Mix;
  chance: Chance;
  world: World;
  network: Network;
  machines: readonly Machine[];
  clock: LedgerClock;
  changePlan: () => void;
  /** A host is gone for good, with what it had not told. */
  lost: (machine: Machine) => void;
}

/** What goes wrong in a run: to processes, to hosts, to the way to the ledger, and to its clock. */
export class Faults {
  readonly #parts: Parts;
  kills = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Each fault so many times a second on average, from `wave` on. */
  plan(wave: number): void {
    const { mix, chance, world, clock, changePlan } = this.#parts;
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
          if (!chance.happens(left)) continue;
          world.after(wave + second * 1_000 + chance.between(0, 1_000), happen);
        }
      }
    }
  }

  #kill(): void {
    const { mix, chance, world, machines } = this.#parts;
    const machine = chance.pick(machines);
    if (machine.isLost) return;
    this.kills++;
    machine.kill();
    const { life } = machine;
    world.after(chance.between(0, mix.restartMsMax), () => {
      if (life === machine.life) void machine.start();
    });
  }

  #outage(): void {
    const { chance, world, network } = this.#parts;
    network.isDown = true;
    world.after(chance.between(100, 6_000), () => {
      network.isDown = false;
    });
  }

  #freeze(): void {
    const { chance, machines } = this.#parts;
    const { freezeMsMax } = this.#parts.mix;
    const longest = chance.happens(0.5) ? freezeMsMax : Math.min(3_000, freezeMsMax);
    chance.pick(machines).freeze(chance.between(10, longest), chance.happens(0.5));
  }

  #loseHost(): void {
    const { chance, machines, lost } = this.#parts;
    const machine = chance.pick(machines);
    if (machines.filter(({ isLost }) => !isLost).length < 2) return;
    machine.kill();
    machine.isLost = true;
    lost(machine);
  }
}
