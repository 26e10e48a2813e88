import { plural } from '../../runtime/plural.ts';
import { progressBar } from '../framework/progress.ts';

/** How often a line is printed where there is no terminal, in ms. */
const LINE_MS = 10_000;
const STEPS = 1_000;

/** Reports the progress of an export on standard error: a bar on a terminal, lines elsewhere. */
export class ExportProgress {
  readonly #bar = progressBar('Exporting', STEPS);
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #startedAt = performance.now();
  #printedAt = this.#startedAt;
  rows = 0;
  bytes = 0;

  /** `progress` is from 0 to 1. */
  update(progress: number): void {
    const now = performance.now();
    if (!this.#isTerminal && now - this.#printedAt < LINE_MS) return;
    this.#printedAt = now;
    const seconds = (now - this.#startedAt) / 1000;
    const left = progress > 0 ? `, ${duration((seconds * (1 - progress)) / progress)} left` : '';
    const label = `${(progress * 100).toFixed(1)} %, ${this.#soFar(seconds)}${left}`;
    if (this.#isTerminal) this.#bar.done(Math.round(progress * STEPS), label);
    else console.error(label);
  }

  end(): void {
    this.#bar.end();
    const seconds = (performance.now() - this.#startedAt) / 1000;
    console.error(`${this.#soFar(seconds)}, ${(this.bytes / 1e6).toFixed(1)} MB in ${duration(seconds)}`);
  }

  stop(): void {
    this.#bar.end();
  }

  #soFar(seconds: number): string {
    const rate = Math.round(this.rows / Math.max(seconds, 0.001));
    return `${plural(this.rows, 'row')} (${rate.toLocaleString('en')} a second)`;
  }
}

/** `1:05:09`, or `0:09`. */
function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
