import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { useAction } from '../../editing/use-action.ts';
import { ago, moment } from '../../show/format.ts';
import { Failure, Loading } from '../../show/parts.tsx';
import { StackTable } from '../../show/stack-table.tsx';

interface Entry {
  id: string;
  at: string;
  actor: string;
  via: 'cli' | 'api' | 'page' | 'key';
  address: string | null;
  action: string;
  target: string;
  details: Record<string, unknown>;
}

interface AuditAnswer {
  entries: Entry[];
  next: string | null;
}

const WAYS: Readonly<Record<Entry['via'], string>> = {
  cli: 'by command',
  api: 'by API',
  page: 'on this page',
  key: 'customer',
};

/** Who changed what, when. */
export function Audit({ token }: { token: string }) {
  const [search, setSearch] = useState('');
  const [older, setOlder] = useState<AuditAnswer[]>([]);
  const action = useAction();
  const loaded = useLoad(() => {
    setOlder([]);
    return askAsOperator<AuditAnswer>(token, `/admin/audit?${new URLSearchParams({ search })}`);
  }, [token, search]);
  const pages = loaded.data ? [loaded.data, ...older] : [];
  const entries = pages.flatMap((page) => page.entries);
  const next = pages.at(-1)?.next ?? null;
  const more = async (path: string) => {
    const page = await action.run(() => askAsOperator<AuditAnswer>(token, path));
    // Another search may have begun meanwhile.
    if (page) setOlder((now) => (now === older ? [...older, page] : now));
  };
  return (
    <section class="card" aria-labelledby="audit-title">
      <div class="card-head">
        <h2 id="audit-title">Audit log</h2>
        <input
          type="search"
          placeholder="Search the audit log"
          aria-label="Search the audit log"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the audit log" shape="table" />}
      {loaded.data && entries.length === 0 && (
        <p class="hint">
          {search === ''
            ? 'Nothing has been changed yet. Every change by command, API or page is listed here.'
            : 'No entry matches.'}
        </p>
      )}
      {entries.length > 0 && (
        <StackTable
          class="plain stack audit"
          rows={entries}
          keyOf={(entry) => entry.id}
          columns={[
            [
              'When',
              ({ at }) => (
                <time dateTime={at} title={moment(at)}>
                  {ago(at)}
                </time>
              ),
            ],
            [
              'Who',
              ({ actor, via, address }) => (
                <span>
                  {actor}{' '}
                  <small class="muted">
                    {WAYS[via]}
                    {address && `, ${address}`}
                  </small>
                </span>
              ),
            ],
            ['Action', ({ action: name }) => <code>{name}</code>],
            ['Target', ({ target }) => target],
            [
              'Details',
              ({ action: name, details }) => (
                <Details details={details} isChange={name.endsWith('.update')} />
              ),
            ],
          ]}
        />
      )}
      {action.error !== undefined && <Failure error={action.error} />}
      {next !== null && (
        <p>
          <button type="button" class="button" disabled={action.isBusy} onClick={() => more(next)}>
            Show older entries
          </button>
        </p>
      )}
    </section>
  );
}

/** A changed field is a pair: before and after. Other fields may be lists of two. */
function Details({ details, isChange }: { details: Entry['details']; isChange: boolean }) {
  return (
    <ul class="changes">
      {Object.entries(details).map(([name, value]) => (
        <li key={name}>
          <span class="muted">{name}</span>{' '}
          {isChange && Array.isArray(value) ? (
            <>
              <s>{printField(name, value[0])}</s> → {printField(name, value[1])}
            </>
          ) : (
            printField(name, value)
          )}
        </li>
      ))}
    </ul>
  );
}

/** A time is in milliseconds. */
function printField(name: string, value: unknown): string {
  if (name.endsWith('At') && typeof value === 'number') return moment(new Date(value).toISOString());
  return print(value);
}

function print(value: unknown): string {
  if (value === null || value === '') return 'none';
  return typeof value === 'object' ? Object.values(value).map(print).join(', ') : String(value);
}
