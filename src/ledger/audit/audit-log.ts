import { yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { containing, like } from '../engine/like.ts';
import { asJson, asNumber, asOneOf, asText, optional, rowReader, type Sql } from '../engine/rows.ts';
import { type Actor, AUDIT_ACTIONS, AUDIT_WAYS, type AuditChange, type AuditEntry } from './entry.ts';

const ENTRY = rowReader<AuditEntry>({
  id: asText,
  at: asNumber,
  actor: asText,
  via: asOneOf(...AUDIT_WAYS),
  address: optional(asText),
  action: asOneOf(...AUDIT_ACTIONS),
  target: asText,
  details: asJson(),
});

/** Sorts after every id, which consists of hexadecimal digits and dashes. */
const AFTER_ALL_IDS = 'z';

/** About 50 ms of the database's time. */
const ENTRIES_PER_PAGE = 10_000;

/** Ids from `start`, if any, to before `end`. */
interface Page {
  start: string | undefined;
  end: string;
}

/** Which entries are listed. */
export interface AuditQuery {
  limit: number;
  /** Only entries that are older than the one with this id. */
  before?: string | undefined;
  /** Only entries that have this text in their actor, action or target. */
  search?: string | undefined;
}

/** Records who changed what. Each entry is written in the transaction of its change: both are committed, or neither. */
export class AuditLog {
  readonly #engine: Engine;
  readonly #actor: Actor | undefined;

  /** Without an actor, the changes are the service's own and are not recorded. */
  constructor(engine: Engine, actor?: Actor) {
    this.#engine = engine;
    this.#actor = actor;
  }

  async record(tx: Sql, { action, target, details = {} }: AuditChange): Promise<void> {
    if (!this.#actor) return;
    const { name, via, address = null } = this.#actor;
    const at = await this.#engine.now(tx);
    await tx`INSERT INTO audit_entry (id, at, actor, via, address, action, target, details) VALUES
      (${Bun.randomUUIDv7()}, ${at}, ${name}, ${via}, ${address}, ${action}, ${target}, ${JSON.stringify(details)})`;
  }

  /** For something that changes no other table, such as the download of a backup. */
  recordAlone(change: AuditChange): Promise<void> {
    return this.#engine.write((tx) => this.record(tx, change));
  }

  /** The newest entries first. A search goes through the log in pages: a long log takes PostgreSQL more than a statement's time. */
  async list({ limit, before = AFTER_ALL_IDS, search = '' }: AuditQuery): Promise<AuditEntry[]> {
    const found: AuditEntry[] = [];
    for (let end = before; ; ) {
      const start = search === '' ? undefined : await this.#startOfPage(end);
      found.push(...(await this.#matching(search, { start, end }, limit - found.length)));
      if (start === undefined || found.length === limit) return found;
      end = start;
      await yieldToRequests();
    }
  }

  /** The oldest id of the page before an id; undefined for the last page. */
  async #startOfPage(end: string): Promise<string | undefined> {
    const { read, placeholder: p } = this.#engine;
    const [row] = await read.unsafe(
      `SELECT id FROM audit_entry WHERE id < ${p(1)} ORDER BY id DESC LIMIT 1 OFFSET ${ENTRIES_PER_PAGE - 1}`,
      [end],
    );
    return row && asText(row.id);
  }

  async #matching(search: string, { start = '', end }: Page, limit: number): Promise<AuditEntry[]> {
    const { read, placeholder: p } = this.#engine;
    const part = containing(search.toLowerCase());
    const rows = await read.unsafe(
      `SELECT ${ENTRY.columns} FROM audit_entry WHERE id < ${p(1)} AND id >= ${p(2)}
         AND (lower(actor) ${like(p(3))} OR actor ${like(p(4))} OR action ${like(p(5))} OR lower(target) ${like(p(6))})
       ORDER BY id DESC LIMIT ${p(7)}`,
      [end, start, part, containing(search), part, part, limit],
    );
    return rows.map(ENTRY.read);
  }
}
