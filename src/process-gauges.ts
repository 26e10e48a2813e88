import type { Gauge } from './api/metrics.ts';

const LOOK_MS = 100;

/** How this process does: its memory, and how late its timers are. */
export function processGauges(): { gauges: Gauge[]; stop(): void } {
  let dueAt = performance.now() + LOOK_MS;
  let longestMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - dueAt);
    dueAt = now + LOOK_MS;
  }, LOOK_MS);
  timer.unref();
  const gauges: Gauge[] = [
    {
      name: 'openpit_heap_bytes',
      help: 'Memory that JavaScript objects take.',
      value: () => process.memoryUsage().heapUsed,
    },
    { name: 'openpit_rss_bytes', help: 'Memory of the process.', value: () => process.memoryUsage.rss() },
    {
      name: 'openpit_event_loop_lag_seconds',
      help: 'The latest that a timer was since this was last asked for.',
      value() {
        const seconds = Math.max(longestMs, performance.now() - dueAt, 0) / 1000;
        longestMs = 0;
        return seconds;
      },
    },
  ];
  return { gauges, stop: () => clearInterval(timer) };
}
