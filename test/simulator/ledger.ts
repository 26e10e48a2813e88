import { join } from 'node:path';
import { Ledger } from '../../src/ledger/ledger.ts';
import { newFolder } from '../support/ledger.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The ledger's clock, which can jump. */
export class LedgerClock {
  readonly #time: VirtualTime;
  jumpedMs = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  now(): number {
    return Math.floor(this.#time.now + this.jumpedMs);
  }

  jump(ms: number): void {
    this.jumpedMs += ms;
  }
}

let template: Promise<string> | undefined;

/** A ledger with schema and catalogue, created once and copied for each run. */
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
