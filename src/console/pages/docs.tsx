import { useState } from 'preact/hooks';
import type { ConfigAnswer } from '../api/answers.ts';
import { useKey } from '../api/session.ts';
import { linkTo } from '../data/route.ts';
import { ExampleLanguage, type ExampleSettings } from '../docs/example.tsx';
import { Guide } from '../docs/guide.tsx';
import { SECTIONS } from '../docs/sections.tsx';
import { LANGUAGES, type Language } from '../show/curl.ts';
import { lazy } from '../show/lazy.tsx';
import { withStyles } from '../show/load-style.ts';
import { useMedia } from '../show/media.ts';
import { Choice } from '../show/parts.tsx';
import formStyle from '../style/forms.css' with { type: 'file' };
import referenceStyle from '../style/reference.css' with { type: 'file' };

const Reference = lazy(
  async () =>
    (await withStyles(import('../docs/reference/reference.tsx'), formStyle, referenceStyle)).Reference,
  'table',
);

const REFERENCE_GROUPS = ['Rates', 'Account', 'Operator', 'Service'];

/** The documentation: a table of contents beside the guide or the API reference. */
export function DocsPage({ section, config }: { section: string; config: ConfigAnswer }) {
  const { key } = useKey(config);
  const [language, setLanguage] = useState<Language>('curl');
  const [part, target = ''] = section.split('/');
  const isReference = part === 'reference';
  const sample: ExampleSettings = { language, origin: location.origin, apiKey: key };
  return (
    <div class="docs">
      <Contents section={section} />
      <article class="prose">
        <div class="page-head">
          <h1>{isReference ? 'API reference' : 'Documentation'}</h1>
          <Choice
            label="Language of the examples"
            options={LANGUAGES}
            value={language}
            onChange={setLanguage}
          />
        </div>
        <ExampleLanguage.Provider value={sample}>
          {isReference ? <Reference target={target} /> : <Guide section={section} />}
        </ExampleLanguage.Provider>
      </article>
    </div>
  );
}

function Contents({ section }: { section: string }) {
  const item = (id: string, title: string) => (
    <li key={id}>
      <a href={linkTo('docs', id)} aria-current={id === section ? 'true' : undefined}>
        {title}
      </a>
    </li>
  );
  const lists = (
    <>
      <strong>Guide</strong>
      <ul>{[...SECTIONS, { id: 'errors', title: 'Errors' }].map(({ id, title }) => item(id, title))}</ul>
      <strong>API reference</strong>
      <ul>
        {item('reference', 'All endpoints')}
        {REFERENCE_GROUPS.map((name) => item(`reference/${name.toLowerCase()}`, name))}
      </ul>
    </>
  );
  const isBeside = useMedia('(min-width: 1000px)');
  return (
    <nav class="contents" aria-label="Contents">
      {isBeside ? (
        lists
      ) : (
        <details key={section} class="card">
          <summary>Contents</summary>
          {lists}
        </details>
      )}
    </nav>
  );
}
