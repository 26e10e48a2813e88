import { systemClock } from '../clock.ts';
import type { HeldTick } from '../ledger/quarantine.ts';
import { type Call, type Command, JSON_FLAG, table, UsageError, wholeFlag } from './command.ts';

const TICKS_SHOWN = 100;

/** The commands for ticks that were held back because they are far from their neighbours. */
export const quarantineCommands: readonly Command[] = [
  {
    name: 'feed quarantine list',
    summary: 'List ticks that are held back because they are far from their neighbours',
    flags: {
      all: { help: 'also those that were released or dropped, up to 30 days ago' },
      limit: { value: 'N', help: `how many (${TICKS_SHOWN})` },
      ...JSON_FLAG,
    },
    run: list,
  },
  {
    name: 'feed quarantine release',
    operands: ['ID'],
    summary: 'Take a tick after all, in its right place',
    flags: JSON_FLAG,
    run: (call) => decide(call, 'released'),
  },
  {
    name: 'feed quarantine drop',
    operands: ['ID'],
    summary: 'Give a tick up that is held back',
    flags: JSON_FLAG,
    run: (call) => decide(call, 'dropped'),
  },
];

async function list(call: Call): Promise<void> {
  const limit = wholeFlag(call, 'limit', 1, 10_000) ?? TICKS_SHOWN;
  const all = call.isSet('all');
  const ticks = await call.withLedger((ledger) => ledger.quarantine.list({ all, limit }));
  if (call.isSet('json')) return console.log(JSON.stringify(ticks.map(withTimes)));
  if (ticks.length === 0) return console.log('No tick is held back.');
  const head = ['id', 'symbol', 'price', 'at', 'source', 'state', 'why'];
  const rows = ticks.map((tick) => [
    String(tick.id),
    tick.symbol,
    String(tick.price),
    new Date(tick.at).toISOString(),
    tick.source,
    tick.state,
    tick.decidedBy === undefined ? tick.reason : `${tick.reason}; ${tick.decidedBy}`,
  ]);
  console.log(table([head, ...rows]));
}

function withTimes({ at, received, decidedAt, ...tick }: HeldTick) {
  const iso = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return { ...tick, at: iso(at), received: iso(received), decidedAt: iso(decidedAt) };
}

async function decide(call: Call, state: 'released' | 'dropped'): Promise<void> {
  const text = call.operands[0]!;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`ID must be a number (received "${text}")`);
  const id = Number(text);
  const now = systemClock.now();
  const done = await call.withLedger(({ quarantine }) =>
    state === 'released' ? quarantine.release(id, now, 'operator') : quarantine.drop(id, now, 'operator'),
  );
  if (!done) throw new Error(`no tick ${id} can be ${state}; openpit feed quarantine list --all shows them`);
  console.log(call.isSet('json') ? JSON.stringify({ id, state }) : `Tick ${id} is ${state}.`);
}
