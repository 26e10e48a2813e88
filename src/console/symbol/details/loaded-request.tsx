import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { masked } from '../../show/format.ts';
import { Choice, CopyButton } from '../../show/parts.tsx';
import { LANGUAGES, type Language, snippet } from '../../show/snippets.ts';

export interface RequestProps {
  path: string;
  apiKey: string;
  requests?: number;
  /** The name of the only symbol that it is for, if the chart shows others, too. */
  only?: string | undefined;
}

/** A request to copy, in a language to choose. The key is not spelled out on the screen, but is in the copy. */
export function LoadedRequest({ title, path, apiKey, requests = 1, only }: RequestProps & { title: VNode }) {
  const [language, setLanguage] = useState<Language>('curl');
  const { origin } = location;
  return (
    <>
      <div class="card-head">
        {title}
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
    </>
  );
}
