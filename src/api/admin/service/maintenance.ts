import { refuse } from '../../errors/errors.ts';
import type { AdminEndpoint } from '../../model/endpoint.ts';
import { adminEndpoint } from '../admin-endpoint.ts';
import { JobRefused, type OperatorJobs } from './operator-jobs.ts';

/** Backups, the check of all counts, the doctor, and the secret that signs webhook events. */
export function adminMaintenance(jobs: OperatorJobs, webhookSecret: () => Promise<string>): AdminEndpoint[] {
  return [
    adminEndpoint('/admin/backups', {
      async GET() {
        return { success: true, backups: jobs.backups() };
      },
      /** A file in the data folder of this machine: it holds every secret, so it is not sent over HTTP. */
      async POST({ ledger, now }) {
        const backup = await orConflict(jobs.backup(now));
        await ledger.audit.recordAlone({ action: 'backup.create', target: backup.name });
        return { success: true, backup };
      },
    }),
    adminEndpoint('/admin/backups/:id', {
      async DELETE({ id, ledger }) {
        if (!jobs.deleteBackup(id)) throw refuse('not_there', { what: 'backup', id: id.slice(0, 64) });
        await ledger.audit.recordAlone({ action: 'backup.delete', target: id });
        return { success: true, name: id, deleted: true };
      },
    }),
    adminEndpoint('/admin/check', {
      async POST() {
        const wrong = await orConflict(jobs.check());
        return { success: true, ok: wrong.length === 0, wrong };
      },
    }),
    adminEndpoint('/admin/doctor', {
      async POST() {
        const findings = await orConflict(jobs.examine());
        return { success: true, ok: !findings.some(({ status }) => status === 'problem'), findings };
      },
    }),
    adminEndpoint('/admin/webhook-secret', {
      /** Not GET: showing the secret leaves an entry in the audit log. */
      async POST({ ledger }) {
        await ledger.audit.recordAlone({ action: 'webhook.show-secret', target: 'webhook' });
        return { success: true, secret: await webhookSecret() };
      },
    }),
  ];
}

/** Awaits a job. Turns its refusal into the API's error. */
export async function orConflict<T>(job: Promise<T>): Promise<T> {
  try {
    return await job;
  } catch (error) {
    throw error instanceof JobRefused ? refuse('conflict', { why: error.message }) : error;
  }
}
