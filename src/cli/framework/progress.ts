const WIDTH = 30;
/** Writing to a terminal takes longer than reading a row. */
const REDRAW_MS = 100;
/** Before that, the rate says nothing about what is to come. */
const RATE_AFTER_MS = 1_000;

export interface Progress {
  /** `label` replaces "count of total" where another unit means more to the user. */
  done(count: number, label?: string): void;
  end(): void;
}

/** A progress bar on a terminal, with rate and time left; silent when the output goes to a file or another program. */
export function progressBar(title: string, total: number): Progress {
  const shown = process.stderr.isTTY === true && total > 0;
  const startedAt = performance.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    done(count, label) {
      const now = performance.now();
      if (!shown || (now - drawnAt < REDRAW_MS && count < total)) return;
      drawnAt = now;
      const filled = Math.min(WIDTH, Math.round((count / total) * WIDTH));
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      process.stderr.write(`\r${title} ${bar} ${progressText(count, total, now - startedAt, label)}\x1b[K`);
    },
    end() {
      if (shown) process.stderr.write('\r\x1b[K');
    },
  };
}

/** For example "1,200 of 5,000, 400/s, 10 s left". A label from the caller includes its own rate, if any. */
export function progressText(count: number, total: number, elapsedMs: number, label?: string): string {
  const done = label ?? `${grouped(count)} of ${grouped(total)}`;
  if (elapsedMs < RATE_AFTER_MS || count === 0) return done;
  const perSecond = count / (elapsedMs / 1000);
  const rate = label === undefined ? `, ${grouped(Math.round(perSecond))}/s` : '';
  return `${done}${rate}, ${duration(Math.max(0, total - count) / perSecond)} left`;
}

/** Seconds as "45 s", "3 min" or "2 h 5 min". */
function duration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
