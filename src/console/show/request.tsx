import { useState } from 'preact/hooks';
import { Choice, CopyButton } from './parts.tsx';
import { LANGUAGES, type Language, masked, snippet } from './snippets.ts';

/** The exact request behind what is shown, to copy. The key is not spelled out on the screen, but is in the copy. */
export function RequestBox({
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
  const { origin } = location;
  return (
    <section class="card" aria-labelledby="request-title">
      <div class="card-head">
        <h2 id="request-title">The request behind this chart</h2>
        <Choice label="Language" options={LANGUAGES} value={language} onChange={setLanguage} />
      </div>
      <div class="code-box">
        <pre>
          <code>{snippet(language, origin, path, masked(apiKey))}</code>
        </pre>
        <CopyButton
          text={snippet(language, origin, path, apiKey)}
          label={`Copy the request as ${language}`}
        />
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
