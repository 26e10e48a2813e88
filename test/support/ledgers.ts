import { afterAll } from 'bun:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { type LedgerSymbol, recordOf } from '../../src/ledger/symbols/symbols.ts';
import type { NewTick } from '../../src/ledger/ticks/tick.ts';
import type { Ohlc } from '../../src/market/bar.ts';
import { parseDay } from '../../src/market/day.ts';
import { readyLedgerUrl } from './database/ready-ledger.ts';
import type { EngineName } from './ledger.ts';

/** A Wednesday, 10:00 in New York. */
export const NOW = Date.parse('2026-07-15T14:00:00Z');
export const fixedClock = { now: () => NOW };

/** Opens ledgers for the tests of one `describe`, and closes them after its last test. */
export function ledgersOf(engine: EngineName) {
  const opened: Ledger[] = [];
  let shared: Promise<Ledger> | undefined;
  afterAll(async () => {
    for (const ledger of opened) await ledger.close();
  });
  const open = async (url: string): Promise<Ledger> => {
    const ledger = await Ledger.open(url, fixedClock);
    opened.push(ledger);
    return ledger;
  };
  return {
    open,
    /** Brings a ledger of an older schema up to date, and opens it. */
    async upgrade(url: string): Promise<Ledger> {
      await Ledger.migrate(url, fixedClock);
      return open(url);
    },
    /** An empty ledger. It has the same epoch as the others. */
    async new(): Promise<Ledger> {
      return open(await readyLedgerUrl(engine));
    },
    /** One ledger for all tests of the `describe` that use rows of their own. */
    async shared(): Promise<Ledger> {
      shared ??= readyLedgerUrl(engine).then(open);
      return shared;
    },
    /** Two ledgers on one URL, as two processes would open them. */
    async pair(): Promise<[Ledger, Ledger]> {
      const url = await readyLedgerUrl(engine);
      return [await open(url), await open(url)];
    },
  };
}

let made = 0;

/** A name that no other test uses. */
export function unique(word: string): string {
  return `${word}${++made}`;
}

/** A symbol that no other test uses, with the market of gold. */
export async function newSymbol(ledger: Ledger): Promise<LedgerSymbol> {
  const code = unique('TEST');
  await ledger.symbols.upsert([{ ...recordOf(await symbolOf(ledger, 'XAU')), code }], []);
  return symbolOf(ledger, code);
}

export async function symbolOf(ledger: Ledger, code: string): Promise<LedgerSymbol> {
  const symbol = (await ledger.symbols.list()).find((one) => one.code === code);
  if (!symbol) throw new Error(`no symbol ${code}`);
  return symbol;
}

export function day(text: string): number {
  const parsed = parseDay(text);
  if (parsed === undefined) throw new Error(`no day ${text}`);
  return parsed;
}

/** A bar with four equal prices. */
export function flat(price: number): Ohlc {
  return { open: price, high: price, low: price, close: price };
}

export function tick(symbolId: number, id: string, at = NOW, price = 1): NewTick {
  return { symbolId, id, at, received: at, price };
}
