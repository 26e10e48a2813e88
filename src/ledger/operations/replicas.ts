import { MS_PER_DAY } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asJson, asNumber, asText, rowReader } from '../engine/rows.ts';
import type { AlarmIdentity } from './alarms.ts';

/** An active alarm of a process. */
export interface ReportedAlarm extends AlarmIdentity {
  /** When it began, in ms since the epoch, if known. */
  since?: number;
  /** What is posted to the webhook; `type` is the kind of alarm. */
  event: Readonly<Record<string, string | number>> & { type: string };
}

/** What a serving process reports every few seconds. */
export interface HeartbeatReport {
  /** Identifies the process for its lifetime; its quota leases carry it too. */
  id: string;
  /** Machine and process id, for the operator. */
  name: string;
  version: string;
  phase: string;
  /** The newest price revision that it has loaded. */
  revision: number;
  alarms?: readonly ReportedAlarm[];
}

/** The last heartbeat of a serving process. All times are the ledger's, in ms. */
export interface ReplicaRow extends HeartbeatReport {
  started: number;
  seen: number;
  /** The ledger's own price revision at that heartbeat. */
  head: number;
  alarms: readonly ReportedAlarm[];
}

const REPLICA = rowReader<ReplicaRow>({
  id: asText,
  name: asText,
  version: asText,
  phase: asText,
  started: asNumber,
  seen: asNumber,
  revision: asNumber,
  head: asNumber,
  alarms: asJson<ReportedAlarm[]>(),
});

/** Three heartbeats. A process that is silent for longer has died or cannot reach the ledger. */
export const SILENT_MS = 15_000;

/** A process that ended without `leave` is listed this long. */
const KEPT_MS = MS_PER_DAY;

/** Which processes serve from this ledger. */
export class ReplicaStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Records a heartbeat. Also deletes processes that have been silent for a day. */
  async beat({ id, name, version, phase, revision, alarms = [] }: HeartbeatReport): Promise<void> {
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

  /** Removes a process that shuts down. A silent row that remains means a crash or a lost connection. */
  async leave(id: string): Promise<void> {
    await this.#engine.write(async (tx) => {
      await tx`DELETE FROM replica WHERE id = ${id}`;
    });
  }

  /** All processes, oldest first, and the ledger's time. */
  async list(): Promise<{ now: number; replicas: ReplicaRow[] }> {
    const { read } = this.#engine;
    const now = await this.#engine.now(read);
    const rows = await read.unsafe(`SELECT ${REPLICA.columns} FROM replica ORDER BY started, id`);
    return { now, replicas: rows.map(REPLICA.read) };
  }
}
