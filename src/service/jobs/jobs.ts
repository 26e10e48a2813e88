import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BackupFile,
  type FeedDiagnosis,
  type ImportRequest,
  type ImportSummary,
  JobRefused,
  type OperatorJobs,
  type ServiceFinding,
  UploadRefused,
} from '../../api/admin/service/operator-jobs.ts';
import type { Config } from '../../config.ts';
import { lackingSettings } from '../../feeds/provider.ts';
import { providerOf } from '../../feeds/providers/index.ts';
import type { Actor } from '../../ledger/audit/entry.ts';
import { isPostgres } from '../../ledger/open-engine.ts';
import { fromThreadError } from '../../runtime/threads/thread-error.ts';
import type { Job, JobMessage, JobReply, JobResults } from './protocol.ts';
import { refuseIfNoTable } from './upload-refusal.ts';

const BACKUP_NAME = /^openpit-\d{8}T\d{6}Z\.db$/;
/** Each has the size of the ledger, so they must not fill the disk. */
const BACKUPS_MAX = 10;

/** Longer than a backup is checked, during which its file does not change. */
const ABANDONED_MS = 3_600_000;

/** Runs each job in a thread of its own, one at a time. */
export class JobRunner implements OperatorJobs {
  readonly #config: Config;
  readonly #backupsDir: string;
  #running: Job['kind'] | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.#backupsDir = join(config.dataDir, 'backups');
  }

  async importFile(request: ImportRequest, actor: Actor | undefined, now: number): Promise<ImportSummary> {
    await refuseIfNoTable(request);
    return this.#run({ kind: 'import', request, actor, now });
  }

  check(): Promise<readonly string[]> {
    return this.#run({ kind: 'check' });
  }

  examine(): Promise<readonly ServiceFinding[]> {
    return this.#run({ kind: 'doctor', config: this.#config });
  }

  async probeFeed(feed: string): Promise<FeedDiagnosis> {
    const lacking = lackingSettings(providerOf(feed)!, this.#config.secrets);
    if (lacking.length > 0) throw new JobRefused(`the feed requires ${lacking.join(', ')}`);
    return this.#run({ kind: 'probe', feed, secrets: this.#config.secrets });
  }

  async backup(now: number): Promise<BackupFile> {
    if (isPostgres(this.#config.databaseUrl))
      throw new JobRefused('the ledger is on PostgreSQL: back it up with pg_dump');
    if (this.backups().length >= BACKUPS_MAX)
      throw new JobRefused(`there are ${BACKUPS_MAX} backups already; delete or move some first`);
    mkdirSync(this.#backupsDir, { recursive: true, mode: 0o700 });
    this.#deleteAbandoned(now);
    const time = new Date(now).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
    const name = `openpit-${time}.db`;
    const bytes = await this.#run({ kind: 'backup', file: join(this.#backupsDir, name) });
    return { name, bytes };
  }

  backups(): readonly BackupFile[] {
    if (!existsSync(this.#backupsDir)) return [];
    const names = readdirSync(this.#backupsDir).filter((name) => BACKUP_NAME.test(name));
    return names
      .sort()
      .reverse()
      .map((name) => ({ name, bytes: statSync(join(this.#backupsDir, name)).size }));
  }

  /** A stop or a kill leaves what a backup has written so far. */
  #deleteAbandoned(now: number): void {
    for (const name of readdirSync(this.#backupsDir).filter((one) => one.endsWith('.db.partial'))) {
      const file = join(this.#backupsDir, name);
      const changedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
      if (now - changedAt > ABANDONED_MS) rmSync(file, { force: true });
    }
  }

  deleteBackup(name: string): boolean {
    if (!this.backups().some((one) => one.name === name)) return false;
    rmSync(join(this.#backupsDir, name));
    return true;
  }

  async #run<K extends Job['kind']>(job: Job & { kind: K }): Promise<JobResults[K]> {
    if (this.#running)
      throw new JobRefused(`another job is running (${this.#running}); try again when it is done`);
    const worker = new Worker(new URL('./job-worker.ts', import.meta.url)); // if it throws, no job is running
    this.#running = job.kind;
    try {
      const reply = await replyOf(worker, { ledgerUrl: this.#config.databaseUrl, job });
      if (reply.ok) return reply.result as JobResults[K];
      throw reply.isRefused ? new UploadRefused(reply.error.message) : fromThreadError(reply.error);
    } finally {
      this.#running = undefined;
      worker.terminate();
    }
  }
}

function replyOf(worker: Worker, message: JobMessage): Promise<JobReply> {
  const { promise, resolve, reject } = Promise.withResolvers<JobReply>();
  worker.onmessage = ({ data }: MessageEvent<JobReply>) => resolve(data);
  worker.onerror = ({ message: reason }) => reject(new Error(reason));
  worker.postMessage(message);
  return promise;
}
