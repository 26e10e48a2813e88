import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuSeconds, type Target } from './process.ts';

export interface Request {
  /** Sent in turn. `{n}` is replaced by a new number each time, `{five}` by five random codes. */
  paths: readonly string[];
  codes?: readonly string[];
  headers?: Record<string, string>;
  /** Sends these instead, each with its own key. */
  recorded?: Recorded;
}

/** A file with one request per line: its path and, after a tab, its key unless the path contains it. */
export interface Recorded {
  file: string;
  count: number;
}

export interface Measured {
  count: number;
  requestsPerSecond: number;
  /** The figure to compare: other work on the machine hardly affects it. */
  requestsPerCpuSecond: number;
}

interface Load {
  /** Whether the generator uses all cores, like the server. If not, it has a core of its own. */
  isSpread: boolean;
  seconds: number;
  expected: number;
  connections: number;
}

const CONNECTIONS = 32;
const LOAD_CORE = 1;
const HAS_WRK = Bun.which('wrk') !== null;

/** How long a target runs a scenario before it is measured: it then has compiled what it runs often. */
export const WARM_UP_SECONDS = Number(process.env.WARM_UP_SECONDS ?? 8);

export const GENERATOR = HAS_WRK ? 'wrk' : 'the bundled generator (apt-get install wrk for wrk)';

/** Sends one request over and over for some seconds. Any answer but 2xx, 304 or the expected one fails the run. */
export async function measure(
  target: Target,
  request: Request,
  seconds: number,
  expected = 200,
  connections = CONNECTIONS,
  isSpread = false,
): Promise<Measured> {
  const cpuBefore = cpuSeconds(target.pids);
  const start = performance.now();
  const count = HAS_WRK
    ? await byWrk(target.url, request, { seconds, expected, connections, isSpread })
    : await byOwn(target.url, request, { seconds, expected, connections, isSpread });
  const elapsed = (performance.now() - start) / 1000;
  const cpu = cpuSeconds(target.pids) - cpuBefore;
  return { count, requestsPerSecond: count / elapsed, requestsPerCpuSecond: count / cpu };
}

async function byWrk(
  url: string,
  request: Request,
  { seconds, expected, connections, isSpread }: Load,
): Promise<number> {
  const { paths, headers = {} } = request;
  const isPlain = !request.recorded && paths.length === 1 && !paths[0]!.includes('{');
  const script = isPlain ? [] : ['-s', await scriptFor(request)];
  const flags = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const wrk = [
    ...(isSpread ? [] : ['taskset', '-c', String(LOAD_CORE)]),
    'wrk',
    isSpread ? '-t2' : '-t1',
    `-c${connections}`,
    `-d${seconds}`,
    '--timeout=20s', // slow is measured, not an error
    ...flags,
    ...script,
    url + (isPlain ? paths[0] : ''),
  ];
  const output = await new Response(Bun.spawn(wrk, { stdout: 'pipe' }).stdout).text();
  const count = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0);
  const bad = Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0);
  if (count === 0 || /Socket errors/.test(output) || (bad > 0 && expected < 400)) {
    throw new Error(`the load on ${url}${paths[0] ?? ''} failed: ${output}`);
  }
  return count;
}

/** Writes a script for wrk. Returns its path. */
async function scriptFor(request: Request): Promise<string> {
  const file = join(tmpdir(), `openpit-bench-${process.pid}.lua`);
  await Bun.write(file, request.recorded ? recordedScript(request.recorded) : pathScript(request));
  return file;
}

/** Begins at a random line, so that short runs cover the whole file. */
function recordedScript({ file, count }: Recorded): string {
  return `local requests = {}
     for line in io.lines(${JSON.stringify(file)}) do
       local path, key = line:match("([^\\t]*)\\t?(.*)")
       local header = key ~= "" and "x-api-key: " .. key .. "\\r\\n" or ""
       requests[#requests + 1] = "GET " .. path .. " HTTP/1.1\\r\\nHost: bench\\r\\n" .. header .. "\\r\\n"
     end
     local n = ${Math.floor(Math.random() * count)}
     request = function()
       n = n % #requests + 1
       return requests[n]
     end`;
}

/** Asks for each path in turn. */
function pathScript({ paths, codes = [] }: Request): string {
  const run = Math.random().toString(36).slice(2);
  return `local paths = {${paths.map((path) => JSON.stringify(path)).join(', ')}}
     local codes = {${codes.map((code) => JSON.stringify(code)).join(', ')}}
     local n = 0
     init = function() math.randomseed(${Math.floor(Math.random() * 1e9)}) end
     local function five()
       local chosen = {}
       for i = 1, 5 do
         local j = math.random(i, #codes)
         codes[i], codes[j] = codes[j], codes[i]
         chosen[i] = codes[i]
       end
       return table.concat(chosen, ",")
     end
     request = function()
       n = n + 1
       local path = paths[n % #paths + 1]:gsub("{n}", "${run}" .. n):gsub("{five}", five)
       return wrk.format("GET", path)
     end`;
}

async function byOwn(url: string, request: Request, load: Load): Promise<number> {
  const own = ['bun', `${import.meta.dir}/generator.ts`, JSON.stringify({ url, request, ...load })];
  const output = await new Response(Bun.spawn(own, { stdout: 'pipe' }).stdout).text();
  return Number(output);
}
