import { join } from 'node:path';
import { MS_PER_DAY, parseDay, printDay, utcDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import { apiKeyIn } from '../framework/api-key.ts';
import { type Command, type CommandCall, JSON_FLAG, table, UsageError } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { additionsOf, type Difference, differencesOf } from './differences.ts';
import { ask, requestsFor, type Sample, type ServiceClient } from './service-client.ts';

/** Old enough for both services to have it. */
const DAYS_AGO = 7;
const RANGE_DAYS = 7;

export const compareCommand: Command = {
  name: 'compare',
  summary: 'Compare the responses of two services of this interface family',
  details:
    'Sends the same requests to both and reports where shapes, dates and values differ. Members that only the second service has are listed, but do not count as differences, because they do not break a client of the first. The exit code is 0 if nothing differs.',
  examples: [
    'compare --base https://old-service/v2 --key-env OLD_KEY --with http://127.0.0.1:8080/v2 --with-key-env NEW_KEY --symbols XAU,CORN',
  ],
  flags: {
    base: { value: 'URL', required: true, help: 'Base URL of the service that clients use today' },
    'key-env': { value: 'NAME', required: true, help: 'Environment variable with its API key' },
    with: { value: 'URL', help: 'Base URL of the other service. Default: this machine, at OPENPIT_PORT' },
    'with-key-env': { value: 'NAME', help: 'Environment variable with its API key. Default: the demo key' },
    symbols: { value: 'LIST', required: true, help: 'Codes separated by commas' },
    date: { value: 'DATE', help: 'Day to compare, and last day of the range. Default: a week ago' },
    tolerance: { value: 'PERCENT', help: 'Accepted difference of numbers. Default: 0' },
    ...JSON_FLAG,
  },
  settings: ['OPENPIT_PORT', 'OPENPIT_DATA_DIR'],
  toleratesAnything: true,
  async run(call) {
    const base = { base: urlOf(call.required('base')), key: keyOf(call, call.required('key-env')) };
    const other = {
      base: urlOf(call.flag('with') ?? `http://127.0.0.1:${call.config.port}`),
      key: await otherKeyOf(call),
    };
    const sample = sampleOf(call);
    const found = await compareServices(base, other, sample, toleranceOf(call));
    printLine(call.isSet('json') ? JSON.stringify(found) : textOf(found, base, other));
    const count = found.reduce((sum, { differences }) => sum + differences.length, 0);
    if (count > 0) throw new Error(`the services differ in ${count} place${count > 1 ? 's' : ''}`);
    requirePrices(found);
  },
};

interface ComparedRequest {
  request: string;
  differences: Difference[];
  /** Members that only the second service has. They do not break clients of the first. */
  additions: string[];
  /** The status with which both services refuse the request: only their errors were compared. */
  refused?: number;
}

async function compareServices(
  base: ServiceClient,
  other: ServiceClient,
  sample: Sample,
  tolerancePercent: number,
): Promise<ComparedRequest[]> {
  const compared: ComparedRequest[] = [];
  for (const request of requestsFor(sample)) {
    const [first, second] = await Promise.all([ask(base, request, sample), ask(other, request, sample)]);
    const differences = differencesOf(first, second, tolerancePercent);
    // Quotas and counts belong to an account: only their presence is compared.
    const isUsage = request === '/usage';
    compared.push({
      request,
      differences: differences.filter(({ kind }) => !isUsage || kind === 'shape'),
      additions: additionsOf(first, second),
      ...(first.status >= 400 && first.status === second.status && { refused: first.status }),
    });
  }
  return compared;
}

/** Otherwise two wrong keys, or a misspelled symbol, would make any two services equal. */
function requirePrices(found: readonly ComparedRequest[]): void {
  const forPrices = found.filter(({ request }) => request.includes('?symbols='));
  if (forPrices.some(({ refused }) => refused === undefined)) return;
  const [requests, advice] = found.every(({ refused }) => refused !== undefined)
    ? ['request', 'the keys']
    : ['request for them', 'the symbols and the day'];
  throw new Error(
    `no prices were compared: both services refuse every ${requests} (status ${forPrices[0]!.refused}); check ${advice}`,
  );
}

function textOf(compared: readonly ComparedRequest[], base: ServiceClient, other: ServiceClient): string {
  const lines = compared.map(({ request, differences, additions, refused }) => {
    const isEqual = differences.length === 0 && additions.length === 0;
    if (isEqual && refused !== undefined && request.includes('?'))
      return `${request}: refused by both (${refused})`;
    if (isEqual) return `${request}: equal`;
    if (differences.length === 0)
      return `${request}: compatible; only the second service has ${additions.join(', ')}`;
    const rows = differences.map(({ kind, at, base: first, other: second }) => [kind, at, first, second]);
    return `${request}:\n${table([['kind', 'member', 'base', 'other'], ...rows])}`;
  });
  return [`base:  ${base.base}`, `other: ${other.base}`, '', ...lines].join('\n');
}

function urlOf(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw new UsageError(`a base URL starts with http:// or https:// (received "${text}")`);
  return text.replace(/\/+$/, '');
}

function keyOf(call: CommandCall, name: string): string {
  const key = apiKeyIn(call, name);
  if (!key) throw new UsageError(`the environment variable ${name} has no API key`);
  return key;
}

async function otherKeyOf(call: CommandCall): Promise<string> {
  const name = call.flag('with-key-env');
  if (name !== undefined) return keyOf(call, name);
  const demoKey = Bun.file(join(call.config.dataDir, 'demo-key'));
  if (await demoKey.exists()) return (await demoKey.text()).trim();
  throw new UsageError('openpit compare requires --with-key-env: there is no demo key');
}

function sampleOf(call: CommandCall): Sample {
  const symbols = call
    .required('symbols')
    .split(',')
    .map((code) => code.trim().toUpperCase());
  const text = call.flag('date') ?? printDay(utcDay(systemClock.now() - DAYS_AGO * MS_PER_DAY));
  const day = parseDay(text);
  if (day === undefined) throw new UsageError(`--date must be a day, as YYYY-MM-DD (received "${text}")`);
  return { symbols, date: text, startDate: printDay(day - RANGE_DAYS), endDate: text };
}

function toleranceOf(call: CommandCall): number {
  const text = call.flag('tolerance') ?? '0';
  const percent = Number(text);
  if (!(percent >= 0)) throw new UsageError(`--tolerance must be a number of percent (received "${text}")`);
  return percent;
}
