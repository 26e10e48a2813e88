import { useState } from 'preact/hooks';
import { askAsOperator, ONLY_NEW } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { linkTo } from '../../data/route.ts';
import { EditedList, useListEditor } from '../../editing/edited-list.tsx';
import { RowActions } from '../../editing/row-actions.tsx';
import { count } from '../../show/format.ts';
import { StackTable } from '../../show/stack-table.tsx';
import { type AdminSymbol, SymbolForm } from './symbol-form.tsx';
import { SymbolsFile } from './symbols-file.tsx';

const SHOWN = 12;

/** Symbols: find, define, change, delete. */
export function Symbols({ token }: { token: string }) {
  const [search, setSearch] = useState('');
  const loaded = useLoad(
    async () => (await askAsOperator<{ symbols: AdminSymbol[] }>(token, '/admin/symbols')).symbols,
    [token],
  );
  const editor = useListEditor<AdminSymbol | 'new'>(loaded.reload);
  const { action, edited, edit, change } = editor;
  const text = search.trim().toLowerCase();
  const found = (loaded.data ?? []).filter((one) =>
    [one.code, one.name, one.category, ...one.aliases].some((part) => part.toLowerCase().includes(text)),
  );
  const put = ({ code, real: _, ...body }: AdminSymbol, headers = {}) =>
    askAsOperator(token, `/admin/symbols/${encodeURIComponent(code)}`, { method: 'PUT', body, headers });
  const save = (symbol: AdminSymbol) => {
    const before = edited === 'new' ? undefined : loaded.data?.find(({ code }) => code === symbol.code);
    return change(
      () => put(symbol, before ? {} : ONLY_NEW),
      before
        ? { text: `${symbol.code} is changed.`, undo: () => put(before) }
        : { text: `${symbol.code} is defined.` },
    );
  };
  const remove = (code: string) => {
    const path = `/admin/symbols/${encodeURIComponent(code)}?confirm=${encodeURIComponent(code)}`;
    return change(() => askAsOperator(token, path, { method: 'DELETE' }), { text: `${code} is deleted.` });
  };
  return (
    <EditedList
      id="symbols"
      title="Symbols"
      loaded={loaded}
      editor={editor}
      tools={
        <div class="field-row">
          <input
            type="search"
            placeholder="Search symbols"
            aria-label="Search symbols"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <button type="button" class="button small" onClick={() => edit('new')}>
            New symbol
          </button>
        </div>
      }
    >
      {edited && (
        <SymbolForm
          key={edited === 'new' ? '' : edited.code}
          symbol={edited === 'new' ? undefined : edited}
          onSave={save}
          onCancel={() => edit(undefined)}
        />
      )}
      {loaded.data && found.length === 0 && <p class="hint">No symbol matches.</p>}
      {found.length > 0 && (
        <StackTable
          rows={found.slice(0, SHOWN)}
          keyOf={(one) => one.code}
          columns={[
            [
              'Symbol',
              (one) => (
                <>
                  <a href={linkTo('symbol', one.code)}>{one.code}</a>{' '}
                  {one.status === 'deprecated' && <span class="badge">deprecated</span>}
                </>
              ),
            ],
            ['Name', (one) => one.name],
            ['Category', (one) => one.category],
            ['Price in', (one) => `${one.currency.code}/${one.unit.symbol}`],
            ['Market', (one) => one.market],
            ['Also known as', (one) => one.aliases.join(', ') || '—'],
          ]}
          actions={(one) => (
            <RowActions
              name={one.code}
              sure="Delete with all prices"
              isBusy={action.isBusy}
              onEdit={() => edit(one)}
              onDelete={() => remove(one.code)}
            />
          )}
        />
      )}
      {found.length > SHOWN && (
        <p class="hint">and {count(found.length - SHOWN)} more: search for a code, a name or a category</p>
      )}
      {loaded.data && <SymbolsFile token={token} known={loaded.data} onChange={loaded.reload} />}
    </EditedList>
  );
}
