import { askAsOperator } from '../data/client.ts';
import { useLoad } from '../data/load.ts';
import { Failure, Loading } from './parts.tsx';

type Cell = string | number | boolean | null | undefined;

/** The feeds as the service tells them: one row each, one column for each plain value. */
export function Feeds({ token }: { token: string }) {
  const loaded = useLoad(
    async () => (await askAsOperator<{ feeds?: Record<string, Cell>[] }>(token, '/admin/feeds')).feeds ?? [],
    [token],
  );
  const columns = [...new Set((loaded.data ?? []).flatMap((feed) => Object.keys(feed)))].filter((name) =>
    loaded.data?.every((feed) => typeof feed[name] !== 'object' || feed[name] === null),
  );
  return (
    <section class="card" aria-labelledby="feeds-title">
      <h2 id="feeds-title">Feeds</h2>
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the feeds" />}
      {loaded.data?.length === 0 && <p class="hint">No feed is set up.</p>}
      {loaded.data && loaded.data.length > 0 && (
        <div class="scroll">
          <table class="plain">
            <thead>
              <tr>
                {columns.map((name) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {loaded.data.map((feed) => (
                <tr key={String(feed[columns[0] ?? ''])}>
                  {columns.map((name) => (
                    <td key={name}>{feed[name] === null ? '—' : String(feed[name] ?? '')}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
