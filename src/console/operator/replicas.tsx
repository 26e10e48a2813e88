import type { Replica, ReplicasAnswer } from '../api/operator.ts';
import { ago, count, duration, plural } from '../show/format.ts';

/** The state of the service at a glance. */
export function ServiceFacts({ answering, replicas }: Pick<ReplicasAnswer, 'answering' | 'replicas'>) {
  const facts: [string, string][] = [
    ['State', `${answering.phase}${answering.simulated ? ', simulated prices' : ''}`],
    ['Ledger', answering.engine === 'postgres' ? 'PostgreSQL' : 'SQLite'],
    ['Newest price', ageText(answering.newestDataAgeSeconds)],
    ['Last write', ageText(answering.newestWriteAgeSeconds)],
    ['Serving', plural(replicas.filter(({ phase }) => phase !== 'silent').length, 'process', 'processes')],
    ['History in memory', `${(answering.historyBytes / 1_048_576).toFixed(1)} MB`],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Every serving process. */
export function Replicas({ answering, replicas }: ReplicasAnswer) {
  return (
    <section class="card" aria-labelledby="replicas-title">
      <h2 id="replicas-title">Replicas</h2>
      {replicas.length === 0 ? (
        <p class="hint">No heartbeat yet. Each process sends one every five seconds.</p>
      ) : (
        <table class="plain stack">
          <thead>
            <tr>
              <th scope="col">Process</th>
              <th scope="col">State</th>
              <th scope="col">Behind the ledger</th>
              <th scope="col">Last heard</th>
              <th scope="col">Up since</th>
              <th scope="col" class="number">
                Quota units held
              </th>
              <th scope="col">Version</th>
            </tr>
          </thead>
          <tbody>
            {replicas.map((one) => (
              <Row key={one.id} replica={one} isAnswering={one.id === answering.id} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ replica, isAnswering }: { replica: Replica; isAnswering: boolean }) {
  const { id, name, phase, behind, silentSeconds, startedAt, units, accounts, version } = replica;
  const colour = phase === 'ready' ? 'good' : phase === 'silent' ? 'bad' : 'warning';
  return (
    <tr>
      <th scope="row">
        <span title={id}>{name}</span> {isAnswering && <small class="muted">serves this page</small>}
      </th>
      <td data-label="State">
        <span class={`badge ${colour}`}>{phase}</span>
      </td>
      <td data-label="Behind the ledger">
        {behind === 0 ? 'not at all' : <span class="fall">{plural(behind, 'revision')}</span>}
      </td>
      <td data-label="Last heard">{silentSeconds < 8 ? 'now' : `${duration(silentSeconds)} ago`}</td>
      <td data-label="Up since">{ago(startedAt)}</td>
      <td data-label="Quota units held" class="number">
        {units === 0 ? '—' : `${count(units)} of ${plural(accounts, 'account')}`}
      </td>
      <td data-label="Version">{version}</td>
    </tr>
  );
}

function ageText(seconds: number | null): string {
  if (seconds === null) return 'none yet';
  return seconds < 3 ? 'now' : `${duration(seconds)} ago`;
}
