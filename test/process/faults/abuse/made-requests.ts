import type { Json } from '../../../support/api.ts';
import { type Known, KnownIds, type MadeRequest, makeRequest } from '../../../support/http/made-requests.ts';
import { Described, type DescribedOperation } from '../../../support/responses/described.ts';
import { Seeded } from '../../../support/seeded.ts';
import { count } from '../environment.ts';
import { row } from '../row.ts';

const TOKEN = 'a-token-of-the-operator';
const DAYS = ['2024-03-28', '2024-03-01', '2015-01-02', '2024-03-29'];

/** Its requests would leave this machine. */
const CONTACTS_PROVIDERS = '/admin/feeds/{id}/probe';

export const madeRequests = row('made-requests', {
  fault: 'requests generated from the OpenAPI document, valid and invalid, for every operation',
  mustHold: 'no 5xx; every response matches its schema',
  async run(environment, { requests, atATime, seed, operationsMissed }) {
    const settings = {
      ...(await environment.demoSettings()),
      OPENPIT_ADMIN_TOKEN: TOKEN,
      OPENPIT_FAILED_KEYS_PER_MINUTE: '1000000',
    };
    const own = await environment.account(settings, 1_000_000_000);
    const { key } = own;
    const program = await environment.program(settings);
    const described = new Described((await (await program.get('/openapi.json')).json()) as Json);
    const known: Known = {
      secrets: { header: [key, 'wrong', '', `${key}x`], admin: [TOKEN, 'wrong', ''] },
      values: {
        ...{ symbols: ['XAU', 'XAU,WTIOIL-FUT', 'gold,XAG', 'CORN'], symbol: ['XAU', 'CORN'] },
        ...{ date: DAYS, startDate: DAYS, endDate: DAYS, asOf: [...DAYS, '2024-03-28T10:00:00Z'] },
        ...{
          at: ['2024-03-28T10:00:00Z'],
          plan: ['free', 'basic'],
          unit: ['kg', 'Bu'],
          quote: ['EUR', 'usd'],
        },
      },
      ids: new KnownIds(
        {
          'admin feeds': ['fred', 'ecb', 'stooq'],
          'admin formulas': ['GOLDSILVER', 'MINE'],
          'admin symbols': ['TIN', 'ZINC', 'MG'],
        },
        new Set([own.account, own.keyId]),
      ),
    };
    const allowed = described.operations.filter(({ path }) => path !== CONTACTS_PROVIDERS);
    const operations = inTurn(allowed);
    const chance = new Seeded(seed);
    let sent = 0;
    const seen = new Map<string, number>();
    let wrong = 0;
    for (let made = 0; made < requests; made += atATime) {
      await Promise.all(
        Array.from({ length: Math.min(atATime, requests - made) }, async () => {
          const request = makeRequest(operations[sent++ % operations.length]!, known, chance);
          const { status, problem } = await judge(program.url, request, described, known, chance);
          const { method, path } = request.operation;
          seen.set(`${method} ${path} ${status}`, (seen.get(`${method} ${path} ${status}`) ?? 0) + 1);
          if (problem) wrong++;
          if (wrong < 20)
            environment.holds(!problem, `${method} ${request.target.slice(0, 200)}: ${problem}`);
        }),
      );
    }
    environment.holds(!program.stderr.includes('"level":"error"'), 'something was logged as a failure');
    const good = [...seen].filter(([name]) => name.endsWith(' 200'));
    const missed = allowed
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => !seen.has(`${name} 200`));
    environment.holds(missed.length <= operationsMissed, `never answered with 200: ${missed.join(', ')}`);
    const answered = good.reduce((sum, [, times]) => sum + times, 0);
    return {
      tried: `${count(requests)} requests to ${allowed.length} operations (seed ${seed})`,
      figures: `${count(answered)} answered with 200, ${count(requests - answered)} refused, ${seen.size} pairs of operation and status, ${wrong} that do not match the schema${missed.length > 0 ? `; never answered with 200: ${missed.join(', ')}` : ''}`,
    };
  },
});

/** Reads or copies the whole ledger: 200 ms of CPU time each. The doctor takes longer: sent in every round, it was most of the trial. */
const HEAVY = /^\/admin\/(backups|check|doctor)$/;
const ROUNDS_PER_HEAVY = 10;

/** Every operation once in a round, heavy ones only in the first of several rounds. */
function inTurn(all: readonly DescribedOperation[]): DescribedOperation[] {
  const light = all.filter(({ method, path }) => method !== 'POST' || !HEAVY.test(path));
  return [...all, ...Array.from({ length: ROUNDS_PER_HEAVY - 1 }, () => light).flat()];
}

/** Of tables, which have no schema. */
const TABLE_TYPE = /^(text\/csv;|application\/x-ndjson;|application\/vnd\.apache\.parquet$)/;

/** Sends a request and returns what is wrong with its response. Remembers the ids in it. */
async function judge(url: string, request: MadeRequest, described: Described, known: Known, chance: Seeded) {
  const { target, headers, body, operation } = request;
  const stop = new AbortController();
  const init = {
    method: operation.method,
    headers,
    signal: stop.signal,
    ...(body !== undefined && { body }),
  };
  const response = await fetch(url + target, init);
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  try {
    if (status >= 500) return { status, problem: `${status} ${await response.text()}` };
    const schema = described.answer(operation.method, operation.path, status);
    if (status === 200 && type.startsWith('text/event-stream')) {
      stop.abort();
      return { status };
    }
    const text = await response.text();
    if (status === 200 && TABLE_TYPE.test(type)) return { status };
    if (!type.startsWith('application/json')) return { status, problem: `its type is ${type}` };
    const parsed = schema.safeParse(JSON.parse(text));
    if (!parsed.success)
      return { status, problem: `${parsed.error.issues[0]?.message} in ${text.slice(0, 200)}` };
    if (operation.security === 'admin' || operation.method === 'POST')
      remember(text, operation, known, chance);
    return { status };
  } catch (error) {
    return { status, problem: String(error) };
  }
}

/** Some of the ids in a response, as ids of what the path names. */
function remember(text: string, { path }: DescribedOperation, known: Known, chance: Seeded): void {
  const kind = KnownIds.kindOf(path.replace('/{id}/', '/'));
  for (const [, id = ''] of text.matchAll(/"(?:id|keyId)":"?((?:acc|key)_\w+|\d+|\w[\w-]*\.db)/g)) {
    known.ids.add(kind, id, chance);
  }
}
