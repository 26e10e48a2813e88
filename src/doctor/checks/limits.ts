import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import type { Config } from '../../config.ts';
import { openFilesMax } from '../../http/fd-limit.ts';
import { plural } from '../../runtime/plural.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** 200 for the service's own files, and 1,000 connections. */
const OPEN_FILES_MIN = 1_200;
/** Fewer are a warning. */
const OPEN_FILES_USUAL = 4_096;

/** Memory of a process without prices, caches and connections. */
const BASE_MB = 200;
/** The rest is for the operating system's file cache, and for PostgreSQL if it runs on the same machine. */
const MEMORY_SHARE_MAX = 0.75;

/** Compares the limits of the system with the settings. `pids` are the service's processes on this machine. */
export function checkLimits(config: Config, pids: readonly number[]): Finding[] {
  return [...checkOpenFiles(pids), checkMemory(config, pids.length), checkCores(config)];
}

/** The limit of the running processes; without any, the limit of a service that would be started from here. */
function checkOpenFiles(pids: readonly number[]): Finding[] {
  const filesMax = Math.min(...(pids.length > 0 ? pids : (['self'] as const)).map(openFilesMax));
  if (filesMax === Number.POSITIVE_INFINITY) return []; // only Linux exposes it
  const text = `a process may open ${filesMax} files, and each connection uses one`;
  const fix =
    'raise the limit: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536 in the shell that starts the service';
  if (filesMax < OPEN_FILES_MIN) return [problem('limits.open_files', text, fix)];
  if (filesMax < OPEN_FILES_USUAL) return [warning('limits.open_files', text, fix)];
  return [ok('limits.open_files', text)];
}

/** Replicas with settings of their own may run on the machine as well. */
function checkMemory({ processes: ofSettings, cacheMb, historyMb }: Config, running: number): Finding {
  const processes = Math.max(ofSettings, running);
  const neededMb = processes * (cacheMb + historyMb + BASE_MB);
  const availableMb = memoryMb();
  const text = `${processes} × (OPENPIT_CACHE_MB ${cacheMb} + OPENPIT_HISTORY_MB ${historyMb} + ${BASE_MB}) = up to ${neededMb} MB of memory, of ${availableMb} MB available`;
  const fix = 'lower OPENPIT_CACHE_MB, OPENPIT_HISTORY_MB or OPENPIT_PROCESSES, or add memory';
  if (neededMb > availableMb) return problem('limits.memory', text, fix);
  if (neededMb > availableMb * MEMORY_SHARE_MAX) return warning('limits.memory', text, fix);
  return ok('limits.memory', text);
}

/** The memory of the machine or of the container. */
function memoryMb(): number {
  const limits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'].map(readNumber);
  return Math.floor(Math.min(totalmem(), ...limits) / 1024 ** 2);
}

/** Infinity when there is no such file, or no limit in it (`max`). */
function readNumber(path: string): number {
  try {
    const number = Number(readFileSync(path, 'utf8').trim());
    return number > 0 ? number : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function checkCores({ processes }: Config): Finding {
  const cores = availableParallelism();
  const text = `OPENPIT_PROCESSES is ${processes}, on ${plural(cores, 'core')}`;
  if (processes <= cores) return ok('limits.processes', text);
  return warning('limits.processes', text, `set it to at most ${cores}: more processes only use more memory`);
}
