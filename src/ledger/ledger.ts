import type { Day } from '../market/day.ts';
import type { Clock } from '../runtime/clock.ts';
import { AccountStore } from './accounts/accounts.ts';
import { KeyStore } from './accounts/key-store.ts';
import { KeyUseStore } from './accounts/key-uses.ts';
import { PlanStore } from './accounts/plans.ts';
import { AuditLog } from './audit/audit-log.ts';
import type { Actor } from './audit/entry.ts';
import { CorrectionStore } from './corrections/corrections.ts';
import { WithdrawalStore } from './corrections/withdrawals.ts';
import type { Engine, LedgerUse, ReadOnlyUse } from './engine/engine.ts';
import { type LedgerLatency, withLatency } from './engine/latency.ts';
import { readMeta, writeMeta } from './engine/meta.ts';
import type { CounterName, HorizonName } from './engine/revisions.ts';
import { asNumber, asText, optional, rowReader } from './engine/rows.ts';
import { IntradayStore } from './intraday/intraday.ts';
import { openEngine } from './open-engine.ts';
import { AlarmStore } from './operations/alarms.ts';
import { FeedStore } from './operations/feeds.ts';
import { MachineStore } from './operations/machines.ts';
import { newestPriceWrite } from './operations/newest-write.ts';
import { ReplicaStore } from './operations/replicas.ts';
import { BarStore } from './prices/bar-store.ts';
import { ClosingStore } from './prices/closing-store.ts';
import { ImportStore } from './prices/imports.ts';
import { PastStore } from './prices/past.ts';
import { RevisionStore } from './prices/revision-store.ts';
import { HeldBarStore } from './quarantine/held-bars.ts';
import { QuarantineStore } from './quarantine/quarantine.ts';
import { QuotaStore } from './quota/quota.ts';
import { RetentionStore } from './retention/retention.ts';
import { type MigrationOptions, prepareSchema, readSchema, type SchemaState } from './schema/schema.ts';
import { fillCatalog } from './symbols/fill-catalog.ts';
import { FormulaStore } from './symbols/formulas.ts';
import { SourceStore } from './symbols/sources.ts';
import { SymbolStore } from './symbols/symbol-store.ts';
import { TickStore } from './ticks/ticks.ts';

/** The ledger's newest revisions. */
export interface LedgerHead {
  /** Identifies this ledger's history; a restore or a failover changes it. */
  epoch: string;
  /** Revision of prices and symbols. */
  prices: number;
  /** Revision of accounts, plans and keys. */
  accounts: number;
  /** The change log of prices and symbols is complete from this revision on. A follower that has seen less reloads. */
  pricesFrom: number;
  /** The same for accounts, plans and keys. */
  accountsFrom: number;
}

/** The newest prices of one market. */
export interface NewestPrice {
  market: string;
  /** The last day with a bar. */
  day: Day | undefined;
  /** The time of the newest tick, in ms. */
  at: number | undefined;
}

const NEWEST_PRICE = rowReader<NewestPrice>({
  market: asText,
  day: optional(asNumber),
  at: optional(asNumber),
});

export interface OpenOptions extends MigrationOptions {
  /** Times the calls to the ledger. */
  latency?: LedgerLatency | undefined;
}

/** The durable store. Everything that the service returns can be rebuilt from it. */
export class Ledger {
  readonly engine: Engine;
  readonly symbols: SymbolStore;
  readonly formulas: FormulaStore;
  readonly sources: SourceStore;
  readonly bars: BarStore;
  readonly withdrawals: WithdrawalStore;
  readonly corrections: CorrectionStore;
  readonly heldBars: HeldBarStore;
  readonly imports: ImportStore;
  readonly ticks: TickStore;
  readonly intraday: IntradayStore;
  readonly past: PastStore;
  readonly revisions: RevisionStore;
  readonly closing: ClosingStore;
  readonly accounts: AccountStore;
  readonly plans: PlanStore;
  readonly keys: KeyStore;
  readonly keyUses: KeyUseStore;
  readonly quota: QuotaStore;
  readonly feeds: FeedStore;
  readonly quarantine: QuarantineStore;
  readonly alarms: AlarmStore;
  readonly replicas: ReplicaStore;
  readonly machines: MachineStore;
  readonly retention: RetentionStore;
  readonly audit: AuditLog;
  /** Who makes the changes; undefined for the service itself. */
  readonly actor: Actor | undefined;

  private constructor(engine: Engine, actor?: Actor) {
    this.engine = engine;
    this.actor = actor;
    this.audit = new AuditLog(engine, actor);
    this.symbols = new SymbolStore(engine, this.audit);
    this.formulas = new FormulaStore(engine, this.audit);
    this.sources = new SourceStore(engine);
    this.bars = new BarStore(engine);
    this.withdrawals = new WithdrawalStore(engine, this.audit);
    this.corrections = new CorrectionStore(engine, this.audit);
    this.heldBars = new HeldBarStore(engine, this.audit);
    this.imports = new ImportStore(engine, this.audit);
    this.ticks = new TickStore(engine);
    this.intraday = new IntradayStore(engine);
    this.past = new PastStore(engine);
    this.revisions = new RevisionStore(engine);
    this.closing = new ClosingStore(engine);
    this.accounts = new AccountStore(engine, this.audit);
    this.plans = new PlanStore(engine, this.audit);
    this.keys = new KeyStore(engine, this.audit);
    this.keyUses = new KeyUseStore(engine);
    this.quota = new QuotaStore(engine);
    this.feeds = new FeedStore(engine, this.audit);
    this.quarantine = new QuarantineStore(engine, this.heldBars, this.audit);
    this.alarms = new AlarmStore(engine);
    this.replicas = new ReplicaStore(engine);
    this.machines = new MachineStore(engine);
    this.retention = new RetentionStore(engine);
  }

  /**
   * Opens the ledger. A new one is created with the symbol catalogue and the built-in plans. Only a server migrates an older
   * schema and extends an older catalogue; for other uses an outdated schema is an error that names `openpit migrate`.
   */
  static async open(
    url: string,
    clock: Clock,
    use: LedgerUse = 'working',
    { latency, ...migration }: OpenOptions = {},
  ): Promise<Ledger> {
    const opened = await openEngine(url, clock, use);
    const engine = latency ? withLatency(opened, latency) : opened;
    try {
      await prepareSchema(engine, use === 'serving' ? 'upgrade' : 'refuse', migration);
      await fillCatalog(engine, use === 'serving');
      return new Ledger(engine);
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Creates the ledger or migrates its schema. Returns the state before. */
  static async migrate(url: string, clock: Clock, options: MigrationOptions = {}): Promise<SchemaState> {
    const engine = await openEngine(url, clock, 'working');
    try {
      const before = await prepareSchema(engine, 'upgrade', options);
      await fillCatalog(engine, true);
      return before;
    } finally {
      await engine.close();
    }
  }

  /** Reads the schema version of an existing database. Changes nothing. */
  static async schema(url: string, clock: Clock): Promise<SchemaState> {
    const engine = await openEngine(url, clock, 'inspecting');
    try {
      return await readSchema(engine);
    } finally {
      await engine.close();
    }
  }

  /** Opens an existing, current ledger read-only. */
  static async openForReading(url: string, clock: Clock, use: ReadOnlyUse = 'reading'): Promise<Ledger> {
    return new Ledger(await openEngine(url, clock, use));
  }

  /** The same ledger for changes by somebody, which the audit log records. */
  as(actor: Actor): Ledger {
    return new Ledger(this.engine, actor);
  }

  async head(): Promise<LedgerHead> {
    // One statement: the counters and the timeline must come from the same server. Prepared, as all that have a parameter.
    const { read, timeline, placeholder: p } = this.engine;
    const rows = await read.unsafe(
      `SELECT name, value, (SELECT value FROM meta WHERE name = ${p(1)}) || ${timeline} AS epoch FROM counter`,
      ['epoch'],
    );
    const counters = new Map<string, number>();
    for (const row of rows) counters.set(asText(row.name), asNumber(row.value));
    const counterOf = (name: CounterName | HorizonName) => counters.get(name) ?? 0;
    return {
      epoch: asText(rows[0]?.epoch),
      prices: counterOf('prices'),
      accounts: counterOf('accounts'),
      pricesFrom: counterOf('prices-from'),
      accountsFrom: counterOf('accounts-from'),
    };
  }

  /** Whether no price has ever been recorded. */
  async isEmpty(): Promise<boolean> {
    const { read } = this.engine;
    const found = [await read`SELECT 1 FROM bar_change LIMIT 1`, await read`SELECT 1 FROM tick LIMIT 1`];
    return found.every((rows) => rows.length === 0);
  }

  /** The newest prices by market. One index lookup per symbol. */
  async newestPrices(): Promise<NewestPrice[]> {
    const rows = await this.engine.read`
      SELECT market, max(day) AS day, max(at) AS at FROM (
        SELECT s.market, (SELECT max(b.day) FROM bar b WHERE b.symbol_id = s.id) AS day,
          (SELECT t.at FROM tick t WHERE t.symbol_id = s.id ORDER BY t.day DESC, t.at DESC LIMIT 1) AS at
        FROM symbol s) newest GROUP BY market`;
    return rows.map(NEWEST_PRICE.read);
  }

  /** When a price was last written, in ms. */
  newestWriteAt(): Promise<number | undefined> {
    return newestPriceWrite(this.engine.read);
  }

  /** A setting that the service stores about itself. */
  meta(name: string): Promise<string | undefined> {
    return readMeta(this.engine.read, name);
  }

  /** A setting that is created on first use. All processes get the same value. */
  async metaOnce(name: string, make: () => string): Promise<string> {
    const known = await this.meta(name);
    if (known !== undefined) return known;
    await this.engine.write(async (tx) => {
      await tx`INSERT INTO meta (name, value) VALUES (${name}, ${make()}) ON CONFLICT DO NOTHING`;
    });
    return (await this.meta(name))!;
  }

  async setMeta(name: string, value: string): Promise<void> {
    await this.engine.write((tx) => writeMeta(tx, name, value));
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

/**
 * Whether a follower at `mine` must reload everything: the ledger was replaced or restored, or its change log no longer
 * covers the changes since then.
 */
export function mustReload(mine: LedgerHead, head: LedgerHead, counter: CounterName): boolean {
  return head.epoch !== mine.epoch || head[counter] < mine[counter] || mine[counter] < head[`${counter}From`];
}
