import { createKey, secureRandom } from '../../../../src/gate/key.ts';
import { LOG_LEVELS } from '../../../../src/runtime/log/log.ts';
import { getRaw } from '../../../support/http/raw.ts';
import { count } from '../environment.ts';
import { TOKEN } from '../price-pusher.ts';
import { row } from '../row.ts';

/** Every way in which people send a key, on purpose and by mistake. */
const targetsWith = (key: string) => [
  `/symbols?apiKey=${key}`,
  `/rates/latest?symbols=XAU&apiKey=${key}`,
  `/rates/latest?symbols=NOPE&apiKey=${key}`,
  `/rates/latest&apiKey=${key}`,
  `/${key}/rates/latest`,
  `/v1/latest/${key}?symbols=XAU`,
  `/symbols?apiKey=${key}&apiKey=${key}`,
  `/symbols?x=${'y'.repeat(9000)}&apiKey=${key}`,
  `/rates/latest?symbols=${key}`,
  `/rates/historical?symbols=XAU&date=${key}&apiKey=${key}`,
  `/rates/stream?symbols=NOPE&apiKey=${key}`,
  `/usage?apiKey=${key}`,
  `/health?apiKey=${key}`,
  `/metrics?apiKey=${key}`,
  `/admin/accounts?apiKey=${key}`,
  `/%00${key}`,
];

export const secrets = row('secrets', {
  fault: 'keys in URLs, at every log level; then the program crashes',
  mustHold: 'no key in any log, metric, error or crash output',
  async run(environment, { rounds, signals }) {
    let requests = 0;
    let characters = 0;
    for (const level of LOG_LEVELS) {
      for (const signal of signals) {
        const settings = {
          ...(await environment.settings()),
          OPENPIT_ADMIN_TOKEN: TOKEN,
          OPENPIT_LOG_LEVEL: level,
          OPENPIT_FAILED_KEYS_PER_MINUTE: '100000',
        };
        const { key } = await environment.account(settings, 1_000_000);
        const program = await environment.program(settings);
        const keys = [key, createKey(secureRandom)];
        const said: string[] = [];
        const all = keys.flatMap(targetsWith);
        for (let round = 0; round < rounds; round++) {
          for (const target of all) said.push(await getRaw(program.url, target).catch(String));
        }
        requests += rounds * all.length;
        said.push(await program.metrics(TOKEN));
        // It dies while requests with a key are in flight.
        const underWay = all.map((target) => getRaw(program.url, target).catch(String));
        await program.end(signal as NodeJS.Signals);
        said.push(...(await Promise.all(underWay)), program.stdout, program.stderr);
        const everything = said.join('\n').toLowerCase();
        characters += everything.length;
        const found = [...keys.map((one) => one.slice('pit_live_'.length)), TOKEN].filter((one) =>
          shows(everything, one),
        );
        environment.holds(
          found.length === 0,
          `at ${level}, ended by ${signal}: ${found.length} secrets show`,
        );
      }
    }
    return {
      tried: `${count(requests)} requests with a key in the URL, at ${LOG_LEVELS.length} log levels, the program terminated by ${signals.join(', ')}`,
      figures: `${count(characters)} characters of logs, responses, metrics and crash output; none contained a key or 8 characters of one`,
    };
  },
});

/** Whether the text contains a part of the secret that is long enough to identify it. */
function shows(text: string, secret: string): boolean {
  const small = secret.toLowerCase();
  return Array.from({ length: small.length - 7 }, (_, i) => small.slice(i, i + 8)).some((part) =>
    text.includes(part),
  );
}
