import { useEffect, useState } from 'preact/hooks';
import type { ConfigAnswer } from '../api/answers.ts';
import { useKey } from '../api/session.ts';
import { linkTo } from '../data/route.ts';
import { Errors } from '../docs/errors.tsx';
import { ExampleLanguage, type ExampleSettings } from '../docs/example.tsx';
import { SECTIONS } from '../docs/sections.tsx';
import { Choice } from '../show/parts.tsx';
import { LANGUAGES, type Language } from '../show/snippets.ts';

/** The documentation: a table of contents, and sections that can be linked to. */
export function DocsPage({ section, config }: { section: string; config: ConfigAnswer }) {
  const { key } = useKey(config);
  const [language, setLanguage] = useState<Language>('curl');
  useEffect(() => {
    // After the page has been scrolled to its top.
    const frame = requestAnimationFrame(() => document.getElementById(`docs-${section}`)?.scrollIntoView());
    return () => cancelAnimationFrame(frame);
  }, [section]);
  const sample: ExampleSettings = { language, origin: location.origin, apiKey: key };
  return (
    <div class="docs">
      <nav class="contents" aria-label="Contents">
        <strong>Contents</strong>
        <ul>
          {[...SECTIONS, { id: 'errors', title: 'Errors' }].map(({ id, title }) => (
            <li key={id}>
              <a href={linkTo('docs', id)} aria-current={id === section ? 'true' : undefined}>
                {title}
              </a>
            </li>
          ))}
          <li>
            <a href="/docs/reference">API reference</a>
          </li>
        </ul>
      </nav>
      <article class="prose">
        <div class="page-head">
          <h1>Documentation</h1>
          <Choice
            label="Language of the examples"
            options={LANGUAGES}
            value={language}
            onChange={setLanguage}
          />
        </div>
        <p>
          Every answer is JSON over HTTP GET, with the key in the header <code>x-api-key</code>. The{' '}
          <a href="/docs/reference">API reference</a> lists every path and lets you try it; the same is there
          for programs as <a href="/openapi.json">OpenAPI 3.1</a>. The examples{' '}
          {key === '' ? 'need a' : 'copy with your'} key.
        </p>
        <ExampleLanguage.Provider value={sample}>
          {SECTIONS.map(({ id, title, Content }) => (
            <section key={id} id={`docs-${id}`} class="docs-section">
              <Heading id={id} title={title} />
              <Content />
            </section>
          ))}
        </ExampleLanguage.Provider>
        <section id="docs-errors" class="docs-section">
          <Heading id="errors" title="Errors" />
          <p>
            An error has <code>success: false</code>, a message for people and a <code>code</code> for
            programs that never changes its meaning. The errors of <code>/usage</code> carry their text in{' '}
            <code>error</code>.
          </p>
          <Errors />
        </section>
      </article>
    </div>
  );
}

function Heading({ id, title }: { id: string; title: string }) {
  return (
    <h2>
      {title}{' '}
      <a class="anchor" href={linkTo('docs', id)} aria-label={`Link to ${title}`}>
        #
      </a>
    </h2>
  );
}
