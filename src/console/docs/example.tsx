import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Language } from '../show/curl.ts';
import { masked } from '../show/format.ts';
import { CopyButton } from '../show/parts.tsx';
import { snippet } from '../show/snippets.ts';

/** How the examples of the page are written. */
export interface ExampleSettings {
  language: Language;
  origin: string;
  /** The reader's own key; empty if there is none. */
  apiKey: string;
}

export const ExampleLanguage = createContext<ExampleSettings>({ language: 'curl', origin: '', apiKey: '' });

/** A request to copy, in the chosen language, with the reader's key. The key is masked on the screen. */
export function Example({ title, path }: { title: string; path: string }) {
  const { language, origin, apiKey } = useContext(ExampleLanguage);
  return (
    <div>
      <strong>{title}</strong>
      <div class="code-box">
        <pre>
          <code>{snippet(language, origin, path, apiKey === '' ? 'YOUR-KEY' : masked(apiKey))}</code>
        </pre>
        <CopyButton text={snippet(language, origin, path, apiKey || 'YOUR-KEY')} label={`Copy: ${title}`} />
      </div>
    </div>
  );
}
