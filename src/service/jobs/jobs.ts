import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BackupFile,
  type FeedDiagnosis,
  type ImportRequest,
  type ImportSummary,
  JobRefused,
  type OperatorJobs,
  UploadRefused,
} from '../../api/admin/service/operator-jobs.ts';
import { lackingSettings, type Secrets } from '../../feeds/provider.ts';
import { providerOf } from '../../feeds/providers/index.ts';
import type { Actor } from '../../ledger/audit/entry.ts';
import { isPostgres } from '../../ledger/open-engine.ts';
import type { Job, JobMessage, JobReply, JobResults } from './protocol.ts';

const BACKUP_NAME = /^openpit-\d{8}T\d{6}Z\.db$/;
/** Each has the size of the ledger, so they must not fill the disk. */
const BACKUPS_MAX = 10;

/** Runs each job in a thread of its own, one at a time. */
export class JobRunner implements OperatorJobs {
  readonly #ledgerUrl: string;
  readonly #backupsDir: string;
  readonly #secrets: Secrets;
  #running: Job['kind'] | undefined;

  constructor(ledgerUrl: string, dataDir: string, secrets: Secrets) {
    this.#ledgerUrl = ledgerUrl;
    this.#backupsDir = join(dataDir, 'backups');
    this.#secrets = secrets;
  }

  importFile(request: ImportRequest, actor: Actor | undefined, now: number): Promise<ImportSummary> {
    return this.#run({ kind: 'import', request, actor, now });
  }

  check(): Promise<readonly string[]> {
    return this.#run({ kind: 'check' });
  }

  async probeFeed(feed: string): Promise<FeedDiagnosis> {
    const lacking = lackingSettings(providerOf(feed)!, this.#secrets);
    if (lacking.length > 0) throw new JobRefused(`the feed requires ${lacking.join(', ')}`);
    return this.#run({ kind: 'probe', feed, secrets: this.#secrets });
  }

  async backup(now: number): Promise<BackupFile> {
    if (isPostgres(this.#ledgerUrl))
      throw new JobRefused('the ledger is on PostgreSQL: back it up with pg_dump');
    if (this.backups().length >= BACKUPS_MAX)
      throw new JobRefused(`there are ${BACKUPS_MAX} backups already; delete or move some first`);
    mkdirSync(this.#backupsDir, { recursive: true, mode: 0o700 });
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

  deleteBackup(name: string): boolean {
    if (!this.backups().some((one) => one.name === name)) return false;
    rmSync(join(this.#backupsDir, name));
    return true;
  }

  async #run<K extends Job['kind']>(job: Job & { kind: K }): Promise<JobResults[K]> {
    if (this.#running)
      throw new JobRefused(`another job is running (${this.#running}); try again when it is done`);
    this.#running = job.kind;
    const worker = new Worker(new URL('./job-worker.ts', import.meta.url));
    try {
      const reply = await replyOf(worker, { ledgerUrl: this.#ledgerUrl, job });
      if (reply.ok) return reply.result as JobResults[K];
      throw reply.isRefused ? new UploadRefused(reply.message) : new Error(reply.message);
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
