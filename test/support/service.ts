import { listen } from '../../src/api/server.ts';
import { readConfig } from '../../src/config.ts';
import { createAccount } from '../../src/gate/onboarding.ts';
import type { Plan } from '../../src/ledger/accounts/plans.ts';
import { periodEnd, periodOf } from '../../src/ledger/quota/period.ts';
import { parseDay } from '../../src/market/day.ts';
import { createLog, type LogLevel } from '../../src/runtime/log/log.ts';
import { openCore } from '../../src/service/core.ts';
import { readyLedgerUrl } from './database/ready-ledger.ts';
import { type EngineName, newFolder } from './ledger.ts';

/** Wednesday 2024-05-15, 16:00 UTC: noon in New York, every market of the catalogue open or just closed. */
export const NOON = Date.UTC(2024, 4, 15, 16);

export const MINUTE = 60_000;

interface UsageDay {
  date: string;
  endpoint: string;
  count: number;
}

export type TestService = Awaited<ReturnType<typeof openTestService>>;

/** The whole service behind a real socket, with a clock that the test controls and without feeds. */
export async function openTestService(
  engine: EngineName,
  options: {
    now?: number;
    settings?: Record<string, string>;
    logLevel?: LogLevel;
    /** A ledger that another test service has open, as a second replica would. */
    ledgerUrl?: string;
  } = {},
) {
  /** `time` is the true time; `setBy` is the error of the wall clock. */
  const clock = {
    time: options.now ?? NOON,
    setBy: 0,
    now: () => clock.time + clock.setBy,
    elapsed: () => clock.time,
  };
  const logLines: string[] = [];
  const log = createLog(options.logLevel ?? 'debug', clock, (line) => logLines.push(line));
  const url = options.ledgerUrl ?? (await readyLedgerUrl(engine));
  const config = readConfig(
    {
      OPENPIT_DATABASE_URL: engine === 'sqlite' ? `sqlite://${url}` : url,
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DEMO: 'false',
      OPENPIT_HTTP: process.env.OPENPIT_HTTP, // the suite also runs on the other HTTP server
      ...options.settings,
    },
    {},
  );
  // The test's clock differs from that of the shared PostgreSQL.
  const core = await openCore({ ...config, acceptClock: true }, clock, log);
  core.phase = 'ready';
  const listener = listen(core.api, { hostname: '127.0.0.1', port: 0, http: config.http });
  const { ledger } = core;
  const idOf = async (code: string) => {
    const currency = /^EUR\/(.+)$/.exec(code)?.[1];
    const symbol = currency
      ? (await ledger.symbols.addCurrencies([currency])).get(currency)
      : (await ledger.symbols.list()).find((one) => one.code === code);
    if (!symbol) throw new Error(`no symbol ${code}`);
    return symbol.id;
  };

  return {
    engine,
    ledgerUrl: url,
    clock,
    config,
    core,
    ledger,
    logLines,
    url: listener.url,
    listener,

    /** Creates an account on a plan and returns its key. */
    async key(plan = 'unlimited'): Promise<string> {
      const { issued } = await createAccount(ledger, { name: 'Test', plan }, clock.time);
      return issued.text;
    },

    async setPlan(plan: Partial<Plan> & { name: string }): Promise<void> {
      const rest = {
        quota: 1_000,
        delaySeconds: 0,
        maxSymbols: 20,
        maxSpanDays: 30,
        burstPerSecond: 10_000,
        history: true,
      };
      await ledger.plans.set({ ...rest, ...plan });
      await core.follow();
    },

    /** When quotas reset, in ms, by the ledger's time, which on PostgreSQL the test does not control. */
    async resetAt(): Promise<number> {
      return periodEnd(periodOf(await ledger.engine.now(ledger.engine.read)));
    },

    /** Whether a number of seconds is the rest of the month, within the duration of a slow test. */
    async isSecondsToReset(seconds: number): Promise<boolean> {
      const now = await ledger.engine.now(ledger.engine.read);
      return Math.abs(periodEnd(periodOf(now)) - now - seconds * 1000) < 60_000;
    },

    /** Publishes bars of a symbol, or of an exchange rate such as `EUR/USD`, given as `{ '2024-05-14': close }` or `{ '2024-05-14': [open, high, low, close] }`. */
    async publish(
      code: string,
      days: Record<string, number | [number, number, number, number]>,
      source = 'test',
      recordedAt = clock.time,
    ): Promise<void> {
      const symbolId = await idOf(code);
      const bars = Object.entries(days).map(([date, prices]) => {
        const [open, high, low, close] =
          typeof prices === 'number' ? [prices, prices, prices, prices] : prices;
        return { symbolId, day: parseDay(date)!, open, high, low, close };
      });
      await ledger.bars.publish(bars, { source, recordedAt });
      await core.follow();
    },

    /** Appends one tick, by default quoted and received now. */
    async tick(code: string, price: number, at = clock.time, received = at, source = 'test'): Promise<void> {
      const tick = { symbolId: await idOf(code), at, received, price, id: `${code} ${at} ${price}` };
      await ledger.ticks.append([tick], source);
      await core.follow();
    },

    /** Sends a request over the socket. The key is sent in a header unless the path has one. */
    get(path: string, key?: string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      if (key !== undefined) headers.set('x-api-key', key);
      return fetch(listener.url + path, { ...init, headers });
    },

    /** The usage by day, once the ledger has every count: a loaded machine may not report them in time. */
    async dailyUsage(key: string): Promise<{ endDate: string; days: UsageDay[]; events: unknown[] }> {
      for (;;) {
        const response = await this.get('/usage/daily', key);
        const body = (await response.json()) as {
          exact?: false;
          endDate: string;
          days: UsageDay[];
          events: [];
        };
        if (body.exact !== false) return body;
      }
    },

    async close(): Promise<void> {
      await listener.stop(0);
      await core.close();
    },
  };
}
