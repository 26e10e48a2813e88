import { readdirSync } from 'node:fs';
import type { Gauge } from '../../api/telemetry/metrics.ts';
import { openFilesMax } from '../../http/fd-limit.ts';
import type { LoopMonitor } from '../../runtime/metrics/loop-monitor.ts';

export interface ProcessFacts {
  version: string;
  engine: string;
  /** Milliseconds since the UNIX epoch. */
  startedAt: number;
}

/** This process: what it runs, its memory, CPU time and file descriptors, and how late its event loop is. */
export function processGauges({ version, engine, startedAt }: ProcessFacts, loop: LoopMonitor): Gauge[] {
  const filesMax = openFilesMax();
  const buildInfo = new Map([[`version="${version}",bun="${Bun.version}",engine="${engine}"`, 1]]);
  return [
    { name: 'openpit_build_info', help: 'The running versions; always 1.', value: () => buildInfo },
    {
      name: 'process_start_time_seconds',
      help: 'When the process started, in seconds since the UNIX epoch.',
      value: () => startedAt / 1000,
    },
    {
      name: 'process_cpu_seconds_total',
      help: 'User and system CPU time.',
      type: 'counter',
      value: cpuSeconds,
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory.',
      value: () => process.memoryUsage.rss(),
    },
    { name: 'process_open_fds', help: 'Open file descriptors.', value: openFds },
    { name: 'process_max_fds', help: 'File descriptors that may be open.', value: () => filesMax },
    {
      name: 'openpit_heap_bytes',
      help: 'Memory used by JavaScript objects.',
      value: () => process.memoryUsage().heapUsed,
    },
    {
      name: 'openpit_event_loop_lag_seconds',
      help: 'How late a 10 ms timer fires.',
      type: 'histogram',
      value: () => loop.lag,
    },
    {
      name: 'openpit_event_loop_lag_max_seconds',
      help: 'The longest event loop lag since the last scrape.',
      value: () => loop.takeLagMsMax() / 1000,
    },
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** NaN where the system does not expose it. */
function openFds(): number {
  for (const folder of ['/proc/self/fd', '/dev/fd']) {
    try {
      return readdirSync(folder).length;
    } catch {}
  }
  return Number.NaN;
}
