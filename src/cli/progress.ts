const WIDTH = 30;

/** A bar on a terminal; silent when the output goes to a file or another program. */
export function progressBar(title: string, total: number): { done(count: number): void; end(): void } {
  const shown = process.stderr.isTTY === true && total > 0;
  return {
    done(count) {
      if (!shown) return;
      const filled = Math.round((count / total) * WIDTH);
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      process.stderr.write(`\r${title} ${bar} ${count} of ${total}`);
    },
    end() {
      if (shown) process.stderr.write('\r\x1b[K');
    },
  };
}
