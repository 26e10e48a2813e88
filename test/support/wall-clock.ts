import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './ledger.ts';

/**
 * The wall clock of child processes, which a test can set. Their other clocks go on as they do. So do waits in the kernel
 * until some time of the wall clock, which the JavaScript engine has when it ends a thread: put it right before a stop.
 */
export class WallClock {
  readonly #cell: Float64Array;
  /** The environment of a program that goes by it. */
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

  /** What is lacking on this machine. */
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
