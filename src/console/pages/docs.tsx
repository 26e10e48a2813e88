import type { ConfigAnswer } from '../api/answers.ts';
import { ask } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { useKey } from '../api/session.ts';
import { CopyButton, Failure, Loading } from '../show/parts.tsx';
import { ClosedDays, Delay } from '../show/pictures.tsx';
import { masked } from '../show/snippets.ts';

interface Described {
  'x-error-codes': { code: string; status: number; example: string }[];
}

export function DocsPage({ config }: { config: ConfigAnswer }) {
  const { key } = useKey(config);
  const { origin } = location;
  return (
    <article class="prose">
      <h1>Documentation</h1>
      <p>
        Every answer is JSON over HTTP GET, with the key in the header <code>x-api-key</code>. The{' '}
        <a href="/docs/reference">API reference</a> lists every path and lets you try it; the same is there
        for programs as <a href="/openapi.json">OpenAPI 3.1</a>.
      </p>

      <h2>Quick start</h2>
      <Example title="Which symbols are there?" path="/symbols" apiKey={key} origin={origin} />
      <Example
        title="The latest rates"
        path="/rates/latest?symbols=XAU,WTIOIL-FUT"
        apiKey={key}
        origin={origin}
      />
      <Example
        title="One day"
        path="/rates/historical?symbols=XAU&date=2024-03-29"
        apiKey={key}
        origin={origin}
      />
      <Example
        title="A range of up to 30 days"
        path="/rates/time-series?symbols=XAU&startDate=2024-03-01&endDate=2024-03-29"
        apiKey={key}
        origin={origin}
      />
      <Example
        title="The change between two days"
        path="/rates/fluctuation?symbols=XAU&startDate=2024-01-01&endDate=2024-03-29"
        apiKey={key}
        origin={origin}
      />
      <Example
        title="Years of prices by month, as CSV for a spreadsheet"
        path="/rates/history?symbols=XAU&startDate=2016-01-01&endDate=2025-12-31&interval=month&format=csv"
        apiKey={key}
        origin={origin}
      />
      <Example
        title="In another unit"
        path="/rates/latest?symbols=XAU&unit=kg"
        apiKey={key}
        origin={origin}
      />
      <Example
        title="Prices as they change"
        path="/rates/stream?symbols=XAU,XAG"
        apiKey={key}
        origin={origin}
      />
      <p class="hint">
        A stream is made of server-sent events. A connection costs one unit and so does every hundred events
        after its first hundred; a client that reconnects with <code>Last-Event-ID</code> continues where it
        stopped.
      </p>

      <h2>A closed day</h2>
      <ClosedDays />
      <h2>What a delayed plan sees</h2>
      <Delay />

      <h2>What costs a unit</h2>
      <p>
        One unit for each successful answer with prices or symbols. Errors, <code>304</code>,{' '}
        <code>HEAD</code>, the usage and this page are free. Only a request that has to read the ledger (
        <code>asOf</code>, <code>/rates/revisions</code>) costs one unit however it ends.
      </p>

      <h2>Errors</h2>
      <p>
        An error has <code>success: false</code>, a message for people and a <code>code</code> for programs
        that never changes its meaning. The errors of <code>/usage</code> carry their text in{' '}
        <code>error</code>.
      </p>
      <Errors />
    </article>
  );
}

function Example({
  title,
  path,
  apiKey,
  origin,
}: {
  title: string;
  path: string;
  apiKey: string;
  origin: string;
}) {
  const line = (key: string) => `curl -H 'x-api-key: ${key}' '${origin}${path}'`;
  return (
    <div>
      <strong>{title}</strong>
      <div class="code-box">
        <pre>
          <code>{line(apiKey === '' ? 'YOUR-KEY' : masked(apiKey))}</code>
        </pre>
        <CopyButton text={line(apiKey || 'YOUR-KEY')} label={`Copy: ${title}`} />
      </div>
    </div>
  );
}

function Errors() {
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
