import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import type { Config } from '../../../config.ts';
import { openFilesMax } from '../../../http/fd-limit.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** 200 for files of its own, and room for a thousand connections. */
const OPEN_FILES_MIN = 1_200;
const OPEN_FILES_USUAL = 4_096;

/** A process without prices, caches and connections. */
const BASE_MB = 200;
/** The rest is for the operating system's file cache, and PostgreSQL where it runs on the same machine. */
const MEMORY_SHARE_MAX = 0.75;

/** What the system allows, `pids` being the processes that serve on this machine, compared with what the settings ask for. */
export function checkLimits(config: Config, pids: readonly number[]): Finding[] {
  return [...checkOpenFiles(pids), checkMemory(config), checkCores(config)];
}

/** Of the processes that serve on this machine; where there are none, what the service would have if it were started here. */
function checkOpenFiles(pids: readonly number[]): Finding[] {
  const most = Math.min(...(pids.length > 0 ? pids : (['self'] as const)).map(openFilesMax));
  if (most === Number.POSITIVE_INFINITY) return []; // only Linux tells
  const text = `a process may have ${most} files open, and each connection is one`;
  const fix =
    'raise it: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536 in the shell that starts the service';
  if (most < OPEN_FILES_MIN) return [problem('limits.open_files', text, fix)];
  if (most < OPEN_FILES_USUAL) return [warning('limits.open_files', text, fix)];
  return [ok('limits.open_files', text)];
}

function checkMemory({ processes, cacheMb, historyMb }: Config): Finding {
  const neededMb = processes * (cacheMb + historyMb + BASE_MB);
  const thereMb = memoryMb();
  const text = `${processes} × (OPENPIT_CACHE_MB ${cacheMb} + OPENPIT_HISTORY_MB ${historyMb} + ${BASE_MB}) = ${neededMb} MB of memory at most, and there are ${thereMb} MB`;
  const fix = 'lower OPENPIT_CACHE_MB, OPENPIT_HISTORY_MB or OPENPIT_PROCESSES, or add memory';
  if (neededMb > thereMb) return problem('limits.memory', text, fix);
  if (neededMb > thereMb * MEMORY_SHARE_MAX) return warning('limits.memory', text, fix);
  return ok('limits.memory', text);
}

/** Of the machine, or of the container. */
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
  const text = `OPENPIT_PROCESSES is ${processes}, and there are ${cores} cores`;
  if (processes <= cores) return ok('limits.processes', text);
  return warning(
    'limits.processes',
    text,
    `set it to ${cores} at most: more processes share the cores and take more memory`,
  );
}
