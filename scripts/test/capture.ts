import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Captured {
  exitCode: number;
  /** Standard output and standard error, in the order in which they were written. */
  output: string;
  /** How much CPU time it used, with the child processes that it waited for. */
  cpuSeconds: number;
}

/** Runs a command to its end, or kills it after a time, and returns what it printed. */
export async function capture(
  command: string[],
  options: { settings?: Record<string, string>; msMax: number },
): Promise<Captured> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-output-'));
  const path = join(folder, 'output');
  const file = openSync(path, 'w'); // one file for both streams keeps their order
  const child = Bun.spawn(command, {
    env: { ...process.env, ...options.settings },
    stdio: ['ignore', file, file],
    timeout: options.msMax,
    killSignal: 'SIGKILL',
  });
  await child.exited;
  closeSync(file);
  const output = readFileSync(path, 'utf8');
  rmSync(folder, { recursive: true });
  return {
    exitCode: child.exitCode ?? 1,
    output,
    cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6, // µs
  };
}
