import { ask } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { Failure, Loading } from '../show/parts.tsx';

interface Described {
  'x-error-codes': { code: string; status: number; example: string }[];
}

/** The table of error codes, from the OpenAPI document. */
export function Errors() {
  const loaded = useLoad(() => ask<Described>('/openapi.json'), []);
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (!loaded.data) return <Loading label="Reading the error codes" />;
  return (
    <div class="card">
      <table class="plain codes">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Code</th>
            <th scope="col">For example</th>
          </tr>
        </thead>
        <tbody>
          {loaded.data['x-error-codes'].map(({ code, status, example }) => (
            <tr key={code}>
              <td>{status}</td>
              <th scope="row">
                <code>{code}</code>
              </th>
              <td>{example}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
