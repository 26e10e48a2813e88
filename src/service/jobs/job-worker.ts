/** Runs one job of the operator and ends. SQLite runs on its caller's thread, and a response must not wait for a job. */

import { UploadRefused } from '../../api/admin/service/operator-jobs.ts';
import type { Diagnosis } from '../../feeds/doctor/probe.ts';
import { writeBackup } from '../../ledger/engine/sqlite/backup.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { sqlitePath } from '../../ledger/open-engine.ts';
import { systemClock } from '../../runtime/clock.ts';
import { lowerPriority } from '../../runtime/threads/lower-priority.ts';
import { toThreadError } from '../../runtime/threads/thread-error.ts';
import { importUpload } from './import-upload.ts';
import type { Job, JobMessage, JobReply } from './protocol.ts';

declare const self: Worker;

lowerPriority();

self.onmessage = async ({ data }: MessageEvent<JobMessage>) => {
  const reply = (message: JobReply) => self.postMessage(message);
  try {
    reply({ ok: true, result: await run(data) });
  } catch (error) {
    reply({ ok: false, error: toThreadError(error), isRefused: error instanceof UploadRefused });
  }
};

async function run({ ledgerUrl, job }: JobMessage): Promise<unknown> {
  if (job.kind === 'doctor') return runDoctor(job);
  if (job.kind === 'backup') return writeBackup(sqlitePath(ledgerUrl), job.file, systemClock);
  const ledger = await Ledger.open(ledgerUrl, systemClock);
  try {
    return await runOn(ledger, job);
  } finally {
    await ledger.close();
  }
}

function runOn(ledger: Ledger, job: Exclude<Job, { kind: 'backup' | 'doctor' }>): Promise<unknown> {
  if (job.kind === 'check') return ledger.quota.check();
  if (job.kind === 'probe') return probeFeed(ledger, job);
  return importUpload(job.actor ? ledger.as(job.actor) : ledger, job.request, job.now);
}

/** The modules of feeds and checks are loaded on demand: they take longer than a small import. */
async function runDoctor({ config }: Job & { kind: 'doctor' }): Promise<unknown> {
  const { examine } = await import('../../doctor/examine.ts');
  const { PROVIDERS } = await import('../../feeds/providers/index.ts');
  return examine(config, PROVIDERS, systemClock);
}

async function probeFeed({ feeds }: Ledger, { feed, secrets }: Job & { kind: 'probe' }): Promise<Diagnosis> {
  const { probe } = await import('../../feeds/doctor/probe.ts');
  const { systemRuntime } = await import('../../feeds/fetch/runtime.ts');
  const { withUrls } = await import('../../feeds/provider.ts');
  const { providerOf } = await import('../../feeds/providers/index.ts');
  const provider = withUrls(providerOf(feed)!, await feeds.urls(feed));
  const { signal } = new AbortController(); // ends with the thread
  return probe(provider, { secrets, runtime: systemRuntime(systemClock), signal });
}
