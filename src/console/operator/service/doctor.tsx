import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { useAction } from '../../editing/use-action.ts';
import { Failure, Notice } from '../../show/parts.tsx';

interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'problem';
  message: string;
  fix?: string;
}

const BADGES: Readonly<Record<Finding['status'], string>> = {
  ok: 'good',
  warning: 'warning',
  problem: 'bad',
};

/** Checks settings, ledger, clock, disk, feeds, keys and limits of the process that answers. */
export function Doctor({ token }: { token: string }) {
  const action = useAction();
  const [findings, setFindings] = useState<readonly Finding[]>();
  const examine = async () => {
    const answer = await action.run(() =>
      askAsOperator<{ findings: Finding[] }>(token, '/admin/doctor', { method: 'POST', body: {} }),
    );
    setFindings(answer?.findings);
  };
  const bad = findings?.filter(({ status }) => status !== 'ok') ?? [];
  const good = findings?.filter(({ status }) => status === 'ok') ?? [];
  return (
    <section class="card" aria-labelledby="doctor-title">
      <div class="card-head">
        <h2 id="doctor-title">Doctor</h2>
        <button type="button" class="button small" disabled={action.isBusy} onClick={examine}>
          {action.isBusy ? 'Examining…' : 'Examine now'}
        </button>
      </div>
      <p class="hint">
        Checks settings, ledger, clock, disk, feeds, keys and limits on the machine that answers, and says
        what to do. The same as <code>openpit doctor</code>.
      </p>
      {action.error !== undefined && <Failure error={action.error} />}
      {findings && bad.length === 0 && <Notice kind="done" title="Nothing is wrong." />}
      {bad.length > 0 && <Findings findings={bad} />}
      {good.length > 0 && (
        <details class="more">
          <summary>{good.length} checks found nothing wrong</summary>
          <Findings findings={good} />
        </details>
      )}
    </section>
  );
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ul class="runs">
      {findings.map(({ check, status, message, fix }) => (
        <li key={check + message}>
          <span class={`badge ${BADGES[status]}`}>{status}</span> <code>{check}</code> {message}
          {fix && <p class="hint">{fix}</p>}
        </li>
      ))}
    </ul>
  );
}
