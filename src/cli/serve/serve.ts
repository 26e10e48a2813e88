import { mainMount } from '../../api/routing/mount-point.ts';
import { requireFreePort } from '../../api/server.ts';
import { COMMAND_NAME } from '../../api/site/command-name.ts';
import { SETTINGS } from '../../config/settings.ts';
import type { Config } from '../../config.ts';
import { requireAccessLog } from '../../ops/access-log-file.ts';
import { readCredentials } from '../../ops/tls/certificate-files.ts';
import { systemClock } from '../../runtime/clock.ts';
import { aggregateWarnings } from '../../runtime/log/aggregated-log.ts';
import { boundedOutput } from '../../runtime/log/bounded-output.ts';
import { createLog, type Log, logLine } from '../../runtime/log/log.ts';
import type { Service } from '../../service.ts';
import type { Command } from '../framework/command.ts';
import { type Assignment, type FromChild, SUPERVISOR_PID, type ToChild } from './messages.ts';
import { ProcessCollector } from './process-collector.ts';
import { Supervisor } from './supervisor.ts';

/** The processes of a killed supervisor listen this long at most while they drain. */
const PORT_WAIT_MS = 4_000;

/** How long a stopped service waits for the reader of its log. */
const EXIT_MS_MAX = 1_000;

/** As much as the access log buffers. */
const LOG_CHARS_MAX = 8 * 1024 * 1024;

export const serveCommand: Command = {
  name: 'serve',
  createsLedger: 'anywhere',
  summary: 'Serve the API over HTTP or HTTPS',
  examples: ['serve --port 8080 --data-dir /var/lib/openpit'],
  flags: {
    'accept-clock': {
      help: 'Start even if the clock is more than a day away from the newest write to the ledger',
    },
  },
  settings: SETTINGS.map((setting) => setting.env),
  async run(call) {
    const config: Config = { ...call.config, acceptClock: call.isSet('accept-clock') };
    const log = aggregateWarnings(createLog(config.logLevel, systemClock, standardError()));
    if (isSupervised()) return serveForSupervisor(config, log);
    requireAccessLog(config.accessLog);
    for (const message of config.warnings) log.warn('settings', { message });
    if (config.processes > 1) return superviseAll(config, log);
    let service: Service | undefined;
    // From the beginning: the first process of a container ignores signals that it has no handler for.
    const stopped = onStopSignal(async () => (service ? service.stop() : process.exit(0)));
    const startService = await loadService();
    service = await startService(config, systemClock, log);
    const isReady = await Promise.race([service.ready.then(() => true), stopped]);
    if (isReady) console.log(welcome(config, service.url, service.demoKey));
    await stopped;
    exitSoon();
  },
};

/** Most of the program. The supervisor of several processes does not need it. */
async function loadService() {
  return (await import('../../service.ts')).startService;
}

function standardError(): (line: string) => void {
  return boundedOutput(process.stderr, {
    charsMax: LOG_CHARS_MAX,
    describeDropped: (count) => logLine(systemClock, 'warn', 'log lines dropped', { count }),
  });
}

/** Runs the processes that share the port. */
async function superviseAll(config: Config, log: Log): Promise<void> {
  if (config.tls) await readCredentials(config.tls); // reports invalid files once, instead of in every process
  const port = await reservePort(config);
  const supervisor = new Supervisor(ownCommand(), port, log);
  const stopped = onStopSignal(() => supervisor.stop(), { kill: () => supervisor.kill() });
  const started = await Promise.race([supervisor.start(config.processes), stopped]);
  if (started)
    console.log(`${welcome(config, started.url, started.demoKey)}\nProcesses: ${config.processes}`);
  await stopped;
  exitSoon();
}

/** The command line of this process. In the single-file build the second argument is a path inside the file, not a script. */
function ownCommand(): string[] {
  const args = process.argv.slice(Bun.isStandaloneExecutable ? 2 : 1);
  return [process.execPath, ...process.execArgv, ...args];
}

/** One of several processes. It ends on a signal, or when its supervisor has died. */
async function serveForSupervisor(config: Config, log: Log): Promise<void> {
  const assignment = await new Promise<Assignment>((resolve) => process.once('message', resolve));
  const { index, port, isFirst } = assignment;
  const send = (message: FromChild) => void process.send?.(message);
  const collector = new ProcessCollector(assignment, send);
  process.on('message', (message: ToChild) => collector.onMessage(message));
  const disconnected = new Promise<void>((resolve) => process.once('disconnect', resolve));
  const startService = await loadService();
  const service = await startService({ ...config, port }, systemClock, log, {
    shared: true,
    isFirst,
    feeds: index === 0,
    sharing: collector,
  });
  const stopped = onStopSignal(() => service.stop(), { orWhen: disconnected, insistent: false });
  const isReady = await Promise.race([service.ready.then(() => true), stopped]);
  if (isReady) send({ kind: 'ready', url: service.url, demoKey: service.demoKey });
  await stopped;
  process.disconnect?.();
  exitSoon();
}

function welcome({ mounts }: Config, url: string, demoKey: string | undefined): string {
  if (demoKey === undefined) {
    return [
      `Openpit listens on ${url}`,
      `Create a key: ${COMMAND_NAME} account create --name "My company" --plan basic`,
      `Real prices:  ${COMMAND_NAME} feed enable --all`,
    ].join('\n');
  }
  const hasPage = mounts.some(({ path }) => path === ''); // the page sends its requests there
  return [
    `Openpit listens on ${url}, with SIMULATED prices.`,
    `Demo key: ${demoKey}`,
    ...(hasPage ? [`Open it:  ${url}/#key=${demoKey}`] : []),
    `Try it:   curl '${url}${mainMount(mounts)}/rates/latest?symbols=XAU,WTIOIL-FUT&apiKey=${demoKey}'`,
    `Real prices: ${COMMAND_NAME} feed enable --all`,
  ].join('\n');
}

/**
 * The first SIGTERM or SIGINT stops the service, as does `orWhen`. A second one ends the process at once if `insistent`, after
 * `kill`. Supervised processes ignore it: a terminal and systemd signal all processes, and the supervisor passes its signal on.
 */
function onStopSignal(
  stop: () => Promise<void>,
  {
    orWhen,
    insistent = true,
    kill = () => {},
  }: { orWhen?: Promise<void>; insistent?: boolean; kill?: () => void } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const begin = () => {
      if (stopping) return;
      stopping = true;
      stop().then(resolve, reject);
    };
    const onSignal = () => {
      if (stopping && insistent) {
        kill();
        process.exit(1);
      }
      begin();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
    void orWhen?.then(begin);
  });
}

/** A log that nobody reads would keep the process alive. */
function exitSoon(): void {
  setTimeout(() => process.exit(0), EXIT_MS_MAX).unref();
}

function isSupervised(): boolean {
  return process.env[SUPERVISOR_PID] === String(process.ppid);
}

/** Returns a free port for the processes. */
async function reservePort({ host, port }: Config): Promise<number> {
  const start = performance.now();
  for (;;) {
    try {
      return requireFreePort(host, port);
    } catch (error) {
      if (performance.now() - start > PORT_WAIT_MS) throw error;
      await Bun.sleep(100);
    }
  }
}
