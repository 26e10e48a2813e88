import { join } from 'node:path';
import { Ledger } from '../../src/ledger/ledger.ts';
import { newFolder } from '../support/ledger.ts';
import type { World } from './world.ts';

/** The ledger's own time, which somebody may set. */
export class LedgerClock {
  readonly #world: World;
  jumpedMs = 0;

  constructor(world: World) {
    this.#world = world;
  }

  now(): number {
    return Math.floor(this.#world.now + this.jumpedMs);
  }

  jump(ms: number): void {
    this.jumpedMs += ms;
  }
}

let template: Promise<string> | undefined;

/** A ledger with its schema and catalogue, made once and copied for each run. */
export function emptyLedger(): Promise<string> {
  template ??= (async () => {
    const path = join(newFolder(), 'template.db');
    const ledger = await Ledger.open(path, { now: () => 0 });
    await ledger.engine.write((tx) => tx.unsafe('SELECT 1'));
    await ledger.close();
    return path;
  })();
  return template;
}
