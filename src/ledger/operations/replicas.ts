import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Row } from '../engine/rows.ts';

/** An alarm that is on in a process. */
export interface ReportedAlarm {
  /** Such as `feed.late.fred`. */
  name: string;
  /** When it began, in ms since the epoch, if that is known. */
  since?: number;
  /** What is posted to the webhook; `type` is the kind of alarm. */
  event: Readonly<Record<string, string | number>> & { type: string };
}

/** What a process that serves says of itself, every few seconds. */
export interface Beat {
  /** Of this process, for as long as it lives; its quota leases carry it too. */
  id: string;
  /** Its machine and process id, for the operator. */
  name: string;
  version: string;
  phase: string;
  /** The price revision that it has followed the ledger to. */
  revision: number;
  /** Those that are on in this process. */
  alarms?: readonly ReportedAlarm[];
}

/** A process that serves, as the ledger last heard of it. All times are the ledger's, in ms. */
export interface ReplicaRow extends Beat {
  started: number;
  seen: number;
  /** The ledger's own revision when it was last heard of. */
  head: number;
  alarms: readonly ReportedAlarm[];
}

/** Three heartbeats: one that was silent for longer has died, or is cut off from the ledger. */
export const SILENT_MS = 15_000;

/** A process that said nothing for so long and did not take its leave is forgotten. */
const KEPT_MS = 86_400_000;

/** Which processes serve from this ledger. */
export class ReplicaStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Notes that a process is there. It also forgets those that have been gone for a day. */
  async beat({ id, name, version, phase, revision, alarms = [] }: Beat): Promise<void> {
    const alarmsText = JSON.stringify(alarms);
    await this.#engine.write(async (tx) => {
      const now = await this.#engine.now(tx);
      await tx`INSERT INTO replica (id, name, version, phase, started, seen, revision, alarms, head)
        VALUES (${id}, ${name}, ${version}, ${phase}, ${now}, ${now}, ${revision}, ${alarmsText},
          (SELECT value FROM counter WHERE name = 'prices'))
        ON CONFLICT (id) DO UPDATE SET phase = excluded.phase, seen = excluded.seen,
          revision = excluded.revision, alarms = excluded.alarms, head = excluded.head`;
      await tx`DELETE FROM replica WHERE seen < ${now - KEPT_MS}`;
    });
  }

  /** A process that stops takes its leave: a row that stays silent is one that died, or is cut off. */
  async leave(id: string): Promise<void> {
    await this.#engine.write(async (tx) => {
      await tx`DELETE FROM replica WHERE id = ${id}`;
    });
  }

  /** All of them, the longest there first, and the ledger's time. */
  async list(): Promise<{ now: number; replicas: ReplicaRow[] }> {
    const { read } = this.#engine;
    const now = await this.#engine.now(read);
    const rows = await read`SELECT * FROM replica ORDER BY started, id`;
    return { now, replicas: rows.map(toReplica) };
  }
}

function toReplica(row: Row): ReplicaRow {
  return {
    id: asText(row.id),
    name: asText(row.name),
    version: asText(row.version),
    phase: asText(row.phase),
    started: asNumber(row.started),
    seen: asNumber(row.seen),
    revision: asNumber(row.revision),
    head: asNumber(row.head),
    alarms: JSON.parse(asText(row.alarms)) as ReportedAlarm[],
  };
}
