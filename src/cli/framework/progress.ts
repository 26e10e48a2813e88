const WIDTH = 30;
/** Writing to a terminal takes longer than reading a row. */
const REDRAW_MS = 100;

export interface Progress {
  /** `label` replaces "count of total" where another unit means more to the user. */
  done(count: number, label?: string): void;
  end(): void;
}

/** A progress bar on a terminal; silent when the output goes to a file or another program. */
export function progressBar(title: string, total: number): Progress {
  const shown = process.stderr.isTTY === true && total > 0;
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    done(count, label = `${count} of ${total}`) {
      if (!shown || (performance.now() - drawnAt < REDRAW_MS && count < total)) return;
      drawnAt = performance.now();
      const filled = Math.min(WIDTH, Math.round((count / total) * WIDTH));
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      process.stderr.write(`\r${title} ${bar} ${label}\x1b[K`);
    },
    end() {
      if (shown) process.stderr.write('\r\x1b[K');
    },
  };
}
