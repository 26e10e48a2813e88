import { useState } from 'preact/hooks';
import { loadModule } from '../../api/load-module.ts';
import { curl, getRequest, LANGUAGES, type Language } from '../../show/curl.ts';
import { masked } from '../../show/format.ts';
import { Choice, CopyButton, Failure } from '../../show/parts.tsx';

/** The exact request behind what is shown, to copy. The key is not spelled out on the screen, but is in the copy. */
export function RequestCard({
  path,
  apiKey,
  requests = 1,
  only,
}: {
  path: string;
  apiKey: string;
  requests?: number;
  /** The name of the only symbol that it is for, if the chart shows others, too. */
  only?: string | undefined;
}) {
  const [language, setLanguage] = useState<Language>('curl');
  const [write, setWrite] = useState(() => writeCurl);
  const [error, setError] = useState<unknown>();
  /** The other languages are loaded when the first of them is chosen. */
  const choose = async (next: Language) => {
    const { snippet } = await loadModule(() => import('../../show/snippets.ts'), setError);
    setWrite(() => snippet);
    setLanguage(next);
    setError(undefined);
  };
  const { origin } = location;
  return (
    <section class="card" aria-labelledby="request-title">
      <div class="card-head">
        <h2 id="request-title">The request behind this chart</h2>
        <Choice label="Language" options={LANGUAGES} value={language} onChange={choose} />
      </div>
      {error !== undefined && <Failure error={error} />}
      <div class="code-box">
        <pre>
          <code>{write(language, origin, path, masked(apiKey))}</code>
        </pre>
        <CopyButton text={write(language, origin, path, apiKey)} label={`Copy the request as ${language}`} />
      </div>
      {language === 'Spreadsheet' && (
        <p class="hint">
          For Google Sheets. In Excel, <em>Data → From Web</em> takes the address between the quotation marks.
          Anyone who can open the sheet can see the key. A header-only key does not work there.
        </p>
      )}
      {requests > 1 && (
        <p class="hint">
          {only
            ? `For ${only}. The compared symbols have their own units, and come from another request.`
            : `The newest of ${requests} similar requests: one response covers a limited number of days.`}
        </p>
      )}
    </section>
  );
}

function writeCurl(_language: Language, origin: string, path: string, key: string): string {
  return curl(getRequest(origin, path, key));
}
