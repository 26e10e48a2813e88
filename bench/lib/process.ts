import { readFileSync } from 'node:fs';
import { percentile } from '../../test/support/percentile.ts';

/** Whether a process can be pinned to one core. */
const CAN_PIN = Bun.which('taskset') !== null;
const TICKS_PER_SECOND = 100;

/** A server under measurement, on a core of its own. */
export interface Target {
  name: string;
  url: string;
  /** Processes whose CPU time counts as the server's. */
  pids: number[];
  stop(): Promise<void>;
}

/** The beginning of a command that is to run on one core. */
export function pinned(core: number | '0-1'): string[] {
  return CAN_PIN ? ['taskset', '-c', String(core)] : [];
}

/** Starts a command on one core and waits until it prints a line that matches. */
export async function startPinned(
  command: readonly string[],
  options: { core: number | '0-1'; until: RegExp; env?: Record<string, string>; cwd?: string },
): Promise<{ child: Bun.Subprocess; match: RegExpExecArray }> {
  const child = Bun.spawn([...pinned(options.core), ...command], {
    env: { ...process.env, ...options.env },
    ...(options.cwd && { cwd: options.cwd }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGTERM')); // also when the benchmark fails
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true });
    const match = options.until.exec(text);
    if (match) return { child, match };
  }
  throw new Error(`${command.join(' ')} ended before it said ${options.until}: ${text}`);
}

/** User and system time of the processes, in seconds. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / TICKS_PER_SECOND;
}

/** How long the first thread of a process has run so far, in ms. */
export function servingThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Memory that a process has, in MB. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
