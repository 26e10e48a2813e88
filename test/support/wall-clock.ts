import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './ledger.ts';

/**
 * The wall clock of child processes, which a test can set. Their other clocks are not affected, nor are waits in the kernel
 * until a wall-clock time, which the JavaScript engine uses to end a thread: reset the clock before a stop.
 */
export class WallClock {
  readonly #cell: Float64Array;
  /** The environment of a program that uses this clock. */
  readonly settings: Readonly<Record<string, string>>;

  constructor() {
    const folder = newFolder();
    const library = join(folder, 'clock-shim.so');
    const source = join(import.meta.dir, 'clock-shim.c');
    const { exitCode, stderr } = Bun.spawnSync([
      'cc',
      '-shared',
      '-fPIC',
      '-O2',
      '-o',
      library,
      source,
      '-ldl',
    ]);
    if (exitCode !== 0) throw new Error(`the clock could not be built: ${stderr}`);
    const file = join(folder, 'set-by-ms');
    writeFileSync(file, new Uint8Array(8));
    this.#cell = new Float64Array(Bun.mmap(file, { shared: true }).buffer);
    this.settings = { LD_PRELOAD: library, CLOCK_SHIM_FILE: file };
  }

  /** What is missing on this machine. */
  static lacks(): string | undefined {
    if (process.platform !== 'linux') return 'Linux';
    return Bun.which('cc') === null ? 'C compiler (cc) to build a clock with' : undefined;
  }

  set setByMs(ms: number) {
    this.#cell[0] = ms;
  }

  get setByMs(): number {
    return this.#cell[0]!;
  }

  now(): number {
    return Date.now() + this.setByMs;
  }
}
