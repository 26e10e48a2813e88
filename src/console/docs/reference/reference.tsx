import { useEffect, useRef, useState } from 'preact/hooks';
import { askOnce } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { linkTo } from '../../data/route.ts';
import { Failure, Loading, Notice } from '../../show/parts.tsx';
import { type ApiOperation, type OpenApiDocument, operationsOf } from './document.ts';
import { ReferenceDocument } from './fields.tsx';
import { OperationDetail } from './operation.tsx';
import { Prose } from './prose.tsx';

/** The API reference, from the service's own OpenAPI document. `target` is an operation or a group to show. */
export function Reference({ target }: { target: string }) {
  const loaded = useLoad(() => askOnce<OpenApiDocument>('', '/openapi.json'), []);
  const [search, setSearch] = useState('');
  const isLoaded = loaded.data !== undefined;
  useEffect(() => {
    document.getElementById(`docs-reference/${target}`)?.scrollIntoView();
  }, [target, isLoaded]);
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (!loaded.data) return <Loading label="Reading the reference" shape="table" />;
  const api = loaded.data;
  const found = operationsOf(api).filter((operation) => isMatch(operation, search));
  return (
    <ReferenceDocument.Provider value={api}>
      <p>
        <Prose text={api.info.description} />
      </p>
      <input
        type="search"
        aria-label="Find an endpoint"
        placeholder="Find an endpoint"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      {found.length === 0 && (
        <Notice
          action={
            <button type="button" class="button" onClick={() => setSearch('')}>
              Show all
            </button>
          }
        >
          No endpoint matches “{search}”.
        </Notice>
      )}
      {api.tags.map(({ name, description }) => {
        const operations = found.filter(({ group }) => group === name);
        if (operations.length === 0) return null;
        return (
          <section key={name} class="docs-section" id={`docs-reference/${name.toLowerCase()}`}>
            <h2>
              {name}{' '}
              <a
                class="anchor"
                href={linkTo('docs', `reference/${name.toLowerCase()}`)}
                aria-label={`Link to ${name}`}
              >
                #
              </a>
            </h2>
            <p class="muted">{description}</p>
            <div class="operations">
              {operations.map((operation) => (
                <OperationRow key={operation.id} operation={operation} isTarget={operation.id === target} />
              ))}
            </div>
          </section>
        );
      })}
    </ReferenceDocument.Provider>
  );
}

/** One endpoint of the list. Its detail is made when it is opened. */
function OperationRow({ operation, isTarget }: { operation: ApiOperation; isTarget: boolean }) {
  const { id, method, path, summary } = operation;
  const [isOpen, setOpen] = useState(isTarget);
  const row = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!isTarget) return;
    setOpen(true);
    const frame = requestAnimationFrame(() => row.current?.scrollIntoView());
    return () => cancelAnimationFrame(frame);
  }, [isTarget]);
  return (
    <details
      ref={row}
      class="operation"
      open={isOpen}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        if (open && !isOpen) history.replaceState(history.state, '', linkTo('docs', `reference/${id}`));
        setOpen(open);
      }}
    >
      <summary>
        <span class={`method ${method.toLowerCase()}`}>{method}</span>
        <h3>
          <code>{path}</code>
        </h3>
        <span class="muted">{summary}</span>
      </summary>
      {isOpen && <OperationDetail operation={operation} />}
    </details>
  );
}

function isMatch({ method, path, summary }: ApiOperation, search: string): boolean {
  const text = `${method} ${path} ${summary}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
