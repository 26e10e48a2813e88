import type { MoveProgress } from '../../ledger/move/move.ts';
import { type Progress, progressBar } from '../framework/progress.ts';

/** The interval of lines when the output is not a terminal. */
const LINE_EVERY_MS = 10_000;

/** Shows rows, rate and remaining time of a move on standard error: a bar on a terminal, otherwise a line every 10 s. */
export class MoveDisplay {
  #phase: MoveProgress['phase'] | undefined;
  #bar: Progress | undefined;
  #startedAt = 0;
  #startedFrom = 0;
  #lineAt = 0;

  show({ phase, table, done, total }: MoveProgress): void {
    const now = performance.now();
    if (phase !== this.#phase || done < this.#startedFrom) {
      this.end();
      this.#phase = phase;
      this.#bar = progressBar(phase === 'copying' ? 'Copying' : 'Verifying', total);
      this.#startedAt = now;
      this.#startedFrom = done;
      this.#lineAt = now;
    }
    const label = this.#label(table, done, total, (now - this.#startedAt) / 1_000);
    this.#bar!.done(done, label);
    if (process.stderr.isTTY || now - this.#lineAt < LINE_EVERY_MS) return;
    this.#lineAt = now;
    process.stderr.write(`${phase} ${label}\n`);
  }

  note(text: string): void {
    this.end();
    process.stderr.write(`${text}\n`);
  }

  end(): void {
    this.#bar?.end();
    this.#bar = undefined;
    this.#phase = undefined;
  }

  #label(table: string, done: number, total: number, seconds: number): string {
    const perSecond = (done - this.#startedFrom) / seconds;
    const pace =
      perSecond > 0 && Number.isFinite(perSecond)
        ? `, ${whole(perSecond)} rows/s, ${whole(Math.ceil((total - done) / perSecond))} s left`
        : '';
    return `${table}: ${whole(done)} of ${whole(total)} rows${pace}`;
  }
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
