import { useContext, useState } from 'preact/hooks';
import { ConnectionLost, NotSent } from '../../api/client.ts';
import { useSecret } from '../../api/session.ts';
import { linkTo } from '../../data/route.ts';
import { SureButton } from '../../editing/sure-button.tsx';
import { masked } from '../../show/format.ts';
import { CopyButton, Failure } from '../../show/parts.tsx';
import { requestSnippet, snippet } from '../../show/snippets.ts';
import { ExampleLanguage } from '../example.tsx';
import { type ApiOperation, exampleBody } from './document.ts';
import { headersOf, missingIn, pathOf, type Values } from './request.ts';

interface Answer {
  status: number;
  type: string;
  text: string;
  durationMs: number;
}

/** A longer response is cut: the whole one is for a program. */
const SHOWN_CHARACTERS_MAX = 20_000;

/** The request as an example to copy, and a button that sends it. */
export function TryIt({ operation, values }: { operation: ApiOperation; values: Values }) {
  const { method, needs, responses } = operation;
  const { language, origin, apiKey } = useContext(ExampleLanguage);
  const token = useSecret('admin');
  const [body, setBody] = useState(() => initialBody(operation));
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const path = pathOf(operation, values);
  const secret = needs === 'admin' ? token : apiKey;
  const example = (shown: string) => {
    if (language === 'Spreadsheet') return spreadsheetExample(operation, origin, path, shown);
    const headers = headersOf(operation, shown, values);
    const url = origin + path.replaceAll('%2C', ',');
    return requestSnippet(language, { method, url, headers, body, file: fileOf(operation) });
  };
  const send = async () => {
    setError(undefined);
    setSending(true);
    const headers = headersOf(operation, secret, values);
    await sendRequest(path, { method, headers, ...(body && { body }) }).then(setAnswer, (reason) => {
      setAnswer(undefined);
      setError(reason);
    });
    setSending(false);
  };
  const placeholder = needs === 'admin' ? 'ADMIN-TOKEN' : 'YOUR-KEY';
  return (
    <section>
      <h4>Request</h4>
      {body !== undefined && (
        <textarea
          aria-label="Body of the request"
          rows={Math.min(12, body.split('\n').length + 1)}
          spellcheck={false}
          value={body}
          onInput={(event) => setBody(event.currentTarget.value)}
        />
      )}
      <div class="code-box">
        <pre>
          <code>{example(secret === '' ? placeholder : masked(secret))}</code>
        </pre>
        <CopyButton text={() => example(secret || placeholder)} label="Copy the request" />
      </div>
      <div class="send">
        {method === 'GET' ? (
          <button
            type="button"
            class="button primary"
            disabled={whyNot(operation, values, secret) !== undefined}
            aria-disabled={isSending} // keeps the focus
            onClick={isSending ? undefined : send}
          >
            Send
          </button>
        ) : (
          <SureButton
            label="Send"
            sure="Send now:"
            describe={`${method} ${operation.path}`}
            onSure={send}
            disabled={isSending || whyNot(operation, values, secret) !== undefined}
          />
        )}
        <span class="hint">
          {whyNot(operation, values, secret) ??
            (responses.some(({ description }) => description.includes('quota_exhausted'))
              ? 'A successful response costs a unit of your quota.'
              : 'Free.')}
        </span>
        {needs === 'admin' && secret === '' && <a href={linkTo('operator')}>Sign in as the operator</a>}
        {needs === 'key' && secret === '' && <a href={linkTo('account')}>Enter a key</a>}
      </div>
      {error !== undefined && <Failure error={error} onRetry={method === 'GET' ? send : undefined} />}
      {error !== undefined && method !== 'GET' && !(error instanceof NotSent) && (
        <p class="hint">
          The request may have been carried out all the same. Check before you send it again.
        </p>
      )}
      {answer && <AnswerBox answer={answer} />}
    </section>
  );
}

function AnswerBox({ answer: { status, type, text, durationMs } }: { answer: Answer }) {
  return (
    <div class="answer" role="status">
      <p>
        <span class={`badge ${status < 400 ? 'good' : 'bad'}`}>{status}</span>{' '}
        <span class="type">
          {type} · {durationMs} ms
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text.slice(0, SHOWN_CHARACTERS_MAX)}</code>
      </pre>
      {text.length > SHOWN_CHARACTERS_MAX && (
        <p class="hint">
          The first {SHOWN_CHARACTERS_MAX.toLocaleString('en')} of {text.length.toLocaleString('en')}{' '}
          characters.
        </p>
      )}
    </div>
  );
}

/** Why the request cannot be sent from here; undefined if it can. */
function whyNot(operation: ApiOperation, values: Values, secret: string): string | undefined {
  const missing = missingIn(operation, values);
  if (missing.length > 0) return `Enter a value for ${missing.join(' and ')}.`;
  if (operation.needs !== 'nothing' && secret === '')
    return operation.needs === 'admin' ? 'This needs the admin token.' : 'This needs a key.';
  const types = operation.responses.flatMap((one) => one.types);
  if (types.includes('text/event-stream')) return 'A stream has no end: copy the request instead.';
  if (fileOf(operation)) return 'This takes a file: copy the request, or use the operator’s page.';
  return undefined;
}

function initialBody({ body }: ApiOperation): string | undefined {
  if (body?.type !== 'application/json') return undefined;
  return JSON.stringify(exampleBody(body.schema), undefined, 2);
}

/** The file to send, if the endpoint takes one. */
function fileOf({ body }: ApiOperation): string | undefined {
  return body && body.type !== 'application/json' ? 'prices.csv' : undefined;
}

function spreadsheetExample({ method, parameters }: ApiOperation, origin: string, path: string, key: string) {
  const readsCsv = method === 'GET' && parameters.some(({ name }) => name === 'format');
  return readsCsv ? snippet('Spreadsheet', origin, path, key) : 'A spreadsheet cannot send this request.';
}

async function sendRequest(path: string, init: RequestInit): Promise<Answer> {
  const start = performance.now();
  const request = requestOf(path, init);
  try {
    const response = await fetch(request);
    const type = response.headers.get('content-type')?.split(';')[0] ?? '';
    const text = await readText(response, type);
    return { status: response.status, type, text, durationMs: Math.round(performance.now() - start) };
  } catch (cause) {
    throw new ConnectionLost('The connection was lost.', { code: 'connection_lost', status: 0, cause });
  }
}

/** A request whose headers have characters that HTTP does not allow cannot be sent. */
function requestOf(path: string, init: RequestInit): Request {
  try {
    return new Request(path, init);
  } catch {
    throw new NotSent(
      'A header has characters that cannot be sent. Use letters without accents, and digits.',
    );
  }
}

async function readText(response: Response, type: string): Promise<string> {
  if (type.includes('parquet')) return `${(await response.blob()).size} bytes`;
  const text = await response.text();
  return type === 'application/json' ? JSON.stringify(JSON.parse(text), undefined, 2) : text;
}
