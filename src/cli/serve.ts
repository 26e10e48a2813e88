import { systemClock } from '../clock.ts';
import { SETTINGS } from '../config.ts';
import { createLog } from '../log.ts';
import { type Service, startService } from '../service.ts';
import type { Command } from './command.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve the interface over HTTP',
  flags: {},
  settings: SETTINGS.map((setting) => setting.env),
  async run({ config }) {
    const log = createLog(config.logLevel, systemClock, (line) => process.stderr.write(line));
    for (const message of config.warnings) log.warn('settings', { message });
    const service = await startService(config, systemClock, log);
    const stopped = onStopSignal(() => service.stop());
    await Promise.race([service.ready, stopped]);
    console.log(welcome(service));
    await stopped;
  },
};

function welcome({ url, demoKey }: Service): string {
  if (demoKey === undefined) {
    return `Openpit listens on ${url}\nMake a key: npx openpit account create --name "My company" --plan basic`;
  }
  return [
    `Openpit listens on ${url}, with SIMULATED prices.`,
    `Demo key: ${demoKey}`,
    `Try it:   curl '${url}/rates/latest?symbols=XAU,WTIOIL-FUT&apiKey=${demoKey}'`,
  ].join('\n');
}

/** The first SIGTERM or SIGINT stops the service; a second one ends the process at once. */
function onStopSignal(stop: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const onSignal = () => {
      if (stopping) process.exit(1);
      stopping = true;
      stop().then(resolve, reject);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
