import { DAY_MS } from '../../runtime/durations.ts';
import type { Engine } from '../engine/engine.ts';
import { Unavailable } from '../engine/errors.ts';
import { writeMeta } from '../engine/meta.ts';
import { asText, onlyRow, optional, type Sql } from '../engine/rows.ts';

/** What tells alarms apart. */
export interface AlarmIdentity {
  /** Such as `feed.late.fred`. */
  name: string;
  /** Which machine, process or certificate has it, if several can have it at a time. It is part of what is posted. */
  subject?: Readonly<Record<string, string>>;
}

/** The answer to a replica that is about to post that an alarm began or ended. `occurrence` is the same for all replicas. */
export interface Claim {
  state: 'claimed' | 'delivered' | 'taken';
  occurrence: string;
}

/** A post that was delivered while the ledger could not record it. */
export interface DeliveredPost {
  alarm: AlarmIdentity;
  occurrence: string;
  version: string;
  /** Whether it was about the end of the alarm. */
  isOver: boolean;
  /** In ms. */
  postedAt: number;
}

/** An alarm whose beginning was delivered, and whose end was not. */
export interface UnfinishedAlarm extends AlarmIdentity {
  /** When it was first reported, by the ledger's clock, in ms. */
  since: number;
}

interface AlarmRow extends UnfinishedAlarm {
  occurrence: string;
  version: string;
  phase: 'beginning' | 'active' | 'ending' | 'over';
  /** Until when a replica has claimed to post it. */
  until: number;
}

/** Alarms that are over are forgotten after this time: a row for each process that ever failed would be too many. */
const KEPT_MS = 30 * DAY_MS;

/** Which alarms have been delivered, so that only one of several replicas posts the beginning and the end of each. */
export class AlarmStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Claims to post for `claimMs` that an alarm has begun. An alarm that begins after its end is a new occurrence, and so
   * is one that goes on in another `version`.
   */
  begin(alarm: AlarmIdentity, version: string, claimMs: number): Promise<Claim> {
    return this.#change(alarm, (row, now) => {
      const isKnown = row?.version === version && (row.phase === 'beginning' || row.phase === 'active');
      if (isKnown && row.phase === 'active') return { state: 'delivered', row };
      if (isKnown && row.until > now) return { state: 'taken', row };
      const { occurrence, since } = isKnown ? row : { occurrence: next(row, now), since: now };
      const until = now + claimMs;
      return {
        state: 'claimed',
        row: { ...identityOf(alarm), since, occurrence, version, phase: 'beginning', until },
      };
    });
  }

  /**
   * Claims to post for `claimMs` that an alarm has ended. There is nothing to post if its beginning was not delivered. A
   * replica that posted the beginning without recording it tells the occurrence.
   */
  end(alarm: AlarmIdentity, claimMs: number, posted?: string): Promise<Claim> {
    return this.#change(alarm, (known, now) => {
      const isUnknown = posted !== undefined && known?.occurrence !== posted;
      const row: AlarmRow | undefined = isUnknown
        ? { ...identityOf(alarm), since: now, occurrence: posted, version: '', phase: 'active', until: 0 }
        : known;
      const isPosted = row !== undefined && (row.phase !== 'beginning' || posted !== undefined);
      if (!isPosted || row.phase === 'over') return { state: 'delivered', row };
      if (row.phase === 'ending' && row.until > now) return { state: 'taken', row };
      return { state: 'claimed', row: { ...row, phase: 'ending', until: now + claimMs } };
    });
  }

  /** Records that what was claimed has been delivered. */
  async markDelivered(alarm: AlarmIdentity, occurrence: string): Promise<void> {
    await this.#change(alarm, (row, now) => {
      if (row?.occurrence !== occurrence) return { state: 'delivered', row };
      const phase = row.phase === 'beginning' ? 'active' : row.phase === 'ending' ? 'over' : row.phase;
      return { state: 'claimed', row: { ...row, phase, until: now } };
    });
  }

  /**
   * Records a post that the ledger could not record when it was delivered. An end that was posted later than it stands, and so
   * does another occurrence that is active.
   */
  async recordPost(post: DeliveredPost): Promise<void> {
    const { alarm, occurrence, version, isOver, postedAt } = post;
    await this.#change(alarm, (row, now) => {
      const isKnown = row?.occurrence === occurrence;
      const isNews = isKnown
        ? row.phase === 'beginning' || (isOver && row.phase !== 'over')
        : !row || row.phase === 'beginning' || (row.phase === 'over' && row.until < postedAt);
      if (!isNews) return { state: 'delivered', row };
      const since = isKnown ? row.since : postedAt;
      const phase = isOver ? 'over' : 'active';
      return {
        state: 'claimed',
        row: { ...identityOf(alarm), since, occurrence, version, phase, until: now },
      };
    });
    // Replicas that restarted during an outage have not counted it, and would give its number to the next one.
    if (alarm.name === OUTAGE_ALARM) await this.recordOutage(Number(occurrence));
  }

  /** The alarms that somebody still has to end, and the ledger's time. */
  async unfinished(): Promise<{ now: number; alarms: UnfinishedAlarm[] }> {
    const { read } = this.#engine;
    const now = await this.#engine.now(read);
    const rows = await read.unsafe(`SELECT value FROM meta WHERE name LIKE '${PREFIX}%' ORDER BY name`);
    const alarms = rows.flatMap(({ value }) => parseRow(asText(value)) ?? []);
    return { now, alarms: alarms.filter(({ phase }) => phase === 'active' || phase === 'ending') };
  }

  /** Deletes alarms that have been over for a month, and what earlier versions stored. Mostly there are none, and nothing is written. */
  async forget(): Promise<void> {
    const { read } = this.#engine;
    if ((await forgettable(read, await this.#engine.now(read))).length === 0) return;
    await this.#engine.write(async (tx) => {
      for (const { name, value } of await forgettable(tx, await this.#engine.now(tx)))
        await tx`DELETE FROM meta WHERE name = ${name} AND value = ${value}`; // it may begin again meanwhile
    });
  }

  /**
   * How often the ledger was unreachable for a replica. Replicas number the next outage by it without the ledger. Throws
   * if the ledger accepts only reads: no request can be counted there.
   */
  async outages(): Promise<number> {
    const { read, readOnly, placeholder: p } = this.#engine;
    const row = onlyRow(
      await read.unsafe(
        `SELECT ${readOnly} AS read_only, (SELECT value FROM meta WHERE name = ${p(1)}) AS outages`,
        [OUTAGES],
      ),
    );
    if (asText(row.read_only) === 'on')
      throw new Unavailable('PostgreSQL accepts only reads: it is a standby, or set to read-only');
    return Number(optional(asText)(row.outages) ?? 0);
  }

  /** Records a past outage. All replicas that noticed it record the same number. */
  async recordOutage(number: number): Promise<void> {
    await this.#engine.write(async (tx) => {
      await tx`INSERT INTO meta (name, value) VALUES (${OUTAGES}, ${String(number)}) ON CONFLICT (name) DO UPDATE
        SET value = excluded.value WHERE CAST(meta.value AS BIGINT) < CAST(excluded.value AS BIGINT)`;
    });
  }

  /** Changes what is known of an alarm. Concurrent replicas do so one after another. */
  #change(
    alarm: AlarmIdentity,
    decide: (row: AlarmRow | undefined, now: number) => { state: Claim['state']; row: AlarmRow | undefined },
  ): Promise<Claim> {
    const name = PREFIX + alarmKey(alarm);
    return this.#engine.write(async (tx) => {
      const now = await this.#engine.now(tx);
      const { state, row } = decide(parseRow(await lockedValue(tx, name)), now);
      if (state === 'claimed') await writeMeta(tx, name, JSON.stringify(row));
      return { state, occurrence: row?.occurrence ?? '' };
    });
  }
}

const OUTAGES = 'outages';

/** Its occurrences are the numbers of the outages. */
const OUTAGE_ALARM = 'ledger.unreachable';

const PREFIX = 'alarm ';

/** The insert creates or locks the row. */
async function lockedValue(tx: Sql, name: string): Promise<string> {
  await tx`INSERT INTO meta (name, value) VALUES (${name}, '') ON CONFLICT (name) DO UPDATE SET value = meta.value`;
  return asText(onlyRow(await tx`SELECT value FROM meta WHERE name = ${name}`).value);
}

/** Undefined for a new row, and for what earlier versions stored. */
function parseRow(text: string): AlarmRow | undefined {
  return text.startsWith('{') ? (JSON.parse(text) as AlarmRow) : undefined;
}

/** The time of the new occurrence, which differs from the last one even if the clock was set back. */
function next(last: AlarmRow | undefined, now: number): string {
  return String(Math.max(now, (Number(last?.occurrence) || 0) + 1));
}

function identityOf({ name, subject }: AlarmIdentity): AlarmIdentity {
  return { name, ...(subject && { subject }) };
}

/** The same for reports of the same alarm. */
export function alarmKey({ name, subject = {} }: AlarmIdentity): string {
  return [name, ...Object.values(subject)].join(' ');
}

/** The rows that `forget` deletes. */
async function forgettable(handle: Sql, now: number): Promise<{ name: string; value: string }[]> {
  const rows = await handle.unsafe(`SELECT name, value FROM meta WHERE name LIKE '${PREFIX}%'`);
  const texts = rows.map(({ name, value }) => ({ name: asText(name), value: asText(value) }));
  return texts.filter(({ value }) => {
    const row = parseRow(value);
    return !row || (row.phase === 'over' && row.until < now - KEPT_MS);
  });
}
