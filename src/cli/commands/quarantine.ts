import type { HeldBar } from '../../ledger/quarantine/held-bars.ts';
import type { HeldTick } from '../../ledger/quarantine/quarantine.ts';
import { printDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import {
  type Command,
  type CommandCall,
  JSON_FLAG,
  numberOperand,
  table,
  wholeFlag,
} from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

const PRICES_SHOWN = 100;
const PRICES_MAX = 1_000_000;

const SUMMARIES = {
  list: 'List ticks and bars that are held back because they are far from their neighbours',
  release: 'Publish a price that is held back',
  drop: 'Discard a price that is held back',
} as const;

type Group = 'quarantine' | 'feed quarantine';

/** The commands for ticks and bars that were held back. `feed quarantine …` is the former name of each. */
export const quarantineCommands = (group: Group): readonly Command[] => [
  {
    name: `${group} list`,
    summary: summaryOf(group, 'list'),
    flags: {
      all: { help: 'Include prices that were released or dropped' },
      limit: { value: 'N', help: `Maximum number of ticks and of bars (${PRICES_SHOWN}; with --json, all)` },
      ...JSON_FLAG,
    },
    run: list,
  },
  {
    name: `${group} release`,
    operands: ['ID'],
    summary: summaryOf(group, 'release'),
    flags: JSON_FLAG,
    run: (call: CommandCall) => decide(call, 'released'),
  },
  {
    name: `${group} drop`,
    operands: ['ID'],
    summary: summaryOf(group, 'drop'),
    flags: JSON_FLAG,
    run: (call: CommandCall) => decide(call, 'dropped'),
  },
];

function summaryOf(group: Group, command: keyof typeof SUMMARIES): string {
  return group === 'quarantine' ? SUMMARIES[command] : `Former name of openpit quarantine ${command}`;
}

async function list(call: CommandCall): Promise<void> {
  const byDefault = call.isSet('json') ? PRICES_MAX : PRICES_SHOWN;
  const limit = wholeFlag(call, 'limit', 1, PRICES_MAX) ?? byDefault;
  const all = call.isSet('all');
  const found = await call.withLedger(async (ledger) => ({
    ticks: await ledger.quarantine.list({ all, limit: limit + 1 }),
    bars: await ledger.heldBars.list({ all, limit: limit + 1 }),
  }));
  const [ticks, bars] = [found.ticks.slice(0, limit), found.bars.slice(0, limit)];
  if (call.isSet('json')) return printLine(JSON.stringify([...ticks.map(tickJson), ...bars.map(barJson)]));
  if (ticks.length + bars.length === 0) return printLine('No price is held back.');
  const head = ['id', 'symbol', 'price', 'at', 'source', 'state', 'why'];
  const rows = [
    ...ticks.map((tick) => rowOf(tick, tick.price, new Date(tick.at).toISOString())),
    ...bars.map((bar) => rowOf(bar, bar.close, printDay(bar.day))),
  ];
  printLine(table([head, ...rows]));
  for (const [kind, { length }] of Object.entries(found)) {
    if (length > limit) printLine(`There are older ${kind}; see --limit.`);
  }
}

function rowOf(held: HeldTick | HeldBar, price: number, when: string): string[] {
  const { id, symbol, source, state, reason, decidedBy } = held;
  const why = decidedBy === undefined ? reason : `${reason}; ${decidedBy}`;
  return [String(id), symbol, String(price), when, source, state, why];
}

const iso = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

function tickJson({ at, received, decidedAt, ...tick }: HeldTick) {
  return { kind: 'tick', ...tick, at: iso(at), received: iso(received), decidedAt: iso(decidedAt) };
}

function barJson({ day, received, decidedAt, ...bar }: HeldBar) {
  return { kind: 'bar', ...bar, date: printDay(day), received: iso(received), decidedAt: iso(decidedAt) };
}

async function decide(call: CommandCall, state: 'released' | 'dropped'): Promise<void> {
  const id = numberOperand(call, 'ID');
  const now = systemClock.now();
  await call.withLedger(async ({ quarantine }) => {
    const done = await (state === 'released'
      ? quarantine.release(id, now, 'operator')
      : quarantine.drop(id, now, 'operator'));
    if (!done) throw new Error(whyNot(id, await quarantine.stateOf(id)));
  });
  printLine(call.isSet('json') ? JSON.stringify({ id, state }) : `Price ${id} is ${state}.`);
}

function whyNot(id: number, state: HeldTick['state'] | undefined): string {
  const reason =
    state === undefined ? `there is no held price ${id}` : `price ${id} has already been ${state}`;
  return `${reason}; openpit quarantine list --all lists every price that was held`;
}
