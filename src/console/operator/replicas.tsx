import type { Replica, ReplicasAnswer } from '../api/operator.ts';
import { ago, count, duration, plural } from '../show/format.ts';
import { StackTable } from '../show/stack-table.tsx';

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
        <StackTable
          rows={replicas}
          keyOf={({ id }) => id}
          columns={[
            [
              'Process',
              ({ id, name }) => (
                <>
                  <span title={id}>{name}</span>{' '}
                  {id === answering.id && <small class="muted">serves this page</small>}
                </>
              ),
            ],
            ['State', ({ phase }) => <span class={`badge ${colourOf(phase)}`}>{phase}</span>],
            [
              'Behind the ledger',
              ({ behind }) =>
                behind === 0 ? 'not at all' : <span class="fall">{plural(behind, 'revision')}</span>,
            ],
            [
              'Last heard',
              ({ silentSeconds }) => (silentSeconds < 8 ? 'now' : `${duration(silentSeconds)} ago`),
            ],
            ['Up since', ({ startedAt }) => ago(startedAt)],
            [
              'Quota units held',
              ({ units, accounts }) =>
                units === 0 ? '—' : `${count(units)} of ${plural(accounts, 'account')}`,
              'number',
            ],
            ['Version', ({ version }) => version],
          ]}
        />
      )}
    </section>
  );
}

function colourOf(phase: Replica['phase']): string {
  if (phase === 'ready') return 'good';
  return phase === 'silent' ? 'bad' : 'warning';
}

function ageText(seconds: number | null): string {
  if (seconds === null) return 'none yet';
  return seconds < 3 ? 'now' : `${duration(seconds)} ago`;
}
