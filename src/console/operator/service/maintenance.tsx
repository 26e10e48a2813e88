import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { DoneNotice } from '../../editing/done-notice.tsx';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { CopyButton, Failure, Loading, Notice } from '../../show/parts.tsx';
import { StackTable } from '../../show/stack-table.tsx';
import { Doctor } from './doctor.tsx';

interface Backup {
  name: string;
  bytes: number;
}

/** The doctor, backups, the check of all counts, and the webhook secret. */
export function Maintenance({ token }: { token: string }) {
  return (
    <>
      <Doctor token={token} />
      <Backups token={token} />
      <div class="columns">
        <Check token={token} />
        <WebhookSecret token={token} />
      </div>
    </>
  );
}

function Backups({ token }: { token: string }) {
  const making = useAction();
  const deleting = useAction();
  const loaded = useLoad(
    async () => (await askAsOperator<{ backups: Backup[] }>(token, '/admin/backups')).backups,
    [token],
  );
  const [done, setDone] = useState<string>();
  const make = async () => {
    setDone(undefined);
    const made = await making.run(() =>
      askAsOperator<{ backup: Backup }>(token, '/admin/backups', { method: 'POST' }),
    );
    if (made) setDone(`The backup ${made.backup.name} is complete.`);
    loaded.reload();
  };
  const remove = async (name: string) => {
    setDone(undefined);
    const path = `/admin/backups/${name}`;
    if (await deleting.run(() => askAsOperator(token, path, { method: 'DELETE' })))
      setDone(`The backup ${name} is deleted.`);
    loaded.reload();
  };
  return (
    <section class="card" aria-labelledby="backups-title">
      <div class="card-head">
        <h2 id="backups-title">Backups</h2>
        <button type="button" class="button primary small" disabled={making.isBusy} onClick={make}>
          {making.isBusy ? 'Backing up…' : 'Back up now'}
        </button>
      </div>
      {making.error !== undefined && <Failure error={making.error} />}
      {deleting.error !== undefined && <Failure error={deleting.error} />}
      {done && <DoneNotice text={done} />}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the backups" shape="table" />}
      {loaded.data?.length === 0 && (
        <p class="hint">
          None yet. A backup is a complete copy of the ledger, made while the service runs. It is written to
          the folder <code>backups</code> in the data folder of this machine, because it holds every secret.
        </p>
      )}
      {loaded.data && loaded.data.length > 0 && (
        <StackTable
          rows={loaded.data}
          keyOf={({ name }) => name}
          columns={[
            ['File', ({ name }) => <code>{name}</code>],
            ['Size', ({ bytes }) => `${(bytes / 1_048_576).toFixed(1)} MB`, 'number'],
          ]}
          actions={({ name }) => (
            <SureButton
              label="Delete"
              sure="Delete for good"
              describe={name}
              disabled={deleting.isBusy}
              onSure={() => remove(name)}
            />
          )}
        />
      )}
    </section>
  );
}

function Check({ token }: { token: string }) {
  const action = useAction();
  const [wrong, setWrong] = useState<readonly string[]>();
  const check = async () => {
    setWrong(undefined);
    const answer = await action.run(() =>
      askAsOperator<{ wrong: string[] }>(token, '/admin/check', { method: 'POST', body: {} }),
    );
    setWrong(answer?.wrong);
  };
  return (
    <section class="card" aria-labelledby="check-title">
      <div class="card-head">
        <h2 id="check-title">Consistency check</h2>
        <button type="button" class="button small" disabled={action.isBusy} onClick={check}>
          {action.isBusy ? 'Checking…' : 'Check now'}
        </button>
      </div>
      <p class="hint">Verifies that usage, leases and quotas in the ledger add up.</p>
      {action.error !== undefined && <Failure error={action.error} />}
      {wrong?.length === 0 && <Notice kind="done" title="All counts add up." />}
      {wrong && wrong.length > 0 && (
        <Notice kind="error" title="Some counts do not add up. Keep a copy of the ledger and report them.">
          <ul>
            {wrong.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Notice>
      )}
    </section>
  );
}

function WebhookSecret({ token }: { token: string }) {
  const action = useAction();
  const [secret, setSecret] = useState<string>();
  const show = async () => {
    const answer = await action.run(() =>
      askAsOperator<{ secret: string }>(token, '/admin/webhook-secret', { method: 'POST', body: {} }),
    );
    setSecret(answer?.secret);
  };
  return (
    <section class="card" aria-labelledby="webhook-title">
      <div class="card-head">
        <h2 id="webhook-title">Webhook secret</h2>
        {secret === undefined ? (
          <SureButton label="Show" sure="Show it on the screen" describe="the webhook secret" onSure={show} />
        ) : (
          <button type="button" class="button small" onClick={() => setSecret(undefined)}>
            Hide
          </button>
        )}
      </div>
      <p class="hint">Signs the events that the service posts to your webhook. Showing it is recorded.</p>
      {action.error !== undefined && <Failure error={action.error} />}
      {secret !== undefined && (
        <p>
          <code class="new-key">{secret}</code> <CopyButton text={secret} label="Copy the webhook secret" />
        </p>
      )}
    </section>
  );
}
