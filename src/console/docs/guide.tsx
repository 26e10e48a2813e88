import { useContext, useEffect } from 'preact/hooks';
import { linkTo } from '../data/route.ts';
import { Errors } from './errors.tsx';
import { ExampleLanguage } from './example.tsx';
import { SECTIONS } from './sections.tsx';

/** The guide: sections that can be linked to. */
export function Guide({ section }: { section: string }) {
  const { apiKey } = useContext(ExampleLanguage);
  useEffect(() => {
    // After the page has been scrolled to its top.
    const frame = requestAnimationFrame(() => document.getElementById(`docs-${section}`)?.scrollIntoView());
    return () => cancelAnimationFrame(frame);
  }, [section]);
  return (
    <>
      <p>
        Every response is JSON over HTTP GET, with the key in the header <code>x-api-key</code>. The{' '}
        <a href={linkTo('docs', 'reference')}>API reference</a> lists every path and lets you try it; it is
        also available as <a href="/openapi.json">OpenAPI 3.1</a>. The examples{' '}
        {apiKey === '' ? 'need a' : 'copy with your'} key.
      </p>
      {SECTIONS.map(({ id, title, Content }) => (
        <section key={id} id={`docs-${id}`} class="docs-section">
          <Heading id={id} title={title} />
          <Content />
        </section>
      ))}
      <section id="docs-errors" class="docs-section">
        <Heading id="errors" title="Errors" />
        <p>
          An error has <code>success: false</code>, a message for people and a <code>code</code> for programs
          that never changes its meaning. The errors of <code>/usage</code> carry their text in{' '}
          <code>error</code>.
        </p>
        <Errors />
      </section>
    </>
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
