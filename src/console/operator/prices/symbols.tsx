import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { linkTo } from '../../data/route.ts';
import { count } from '../../show/format.ts';
import { ActionsHead, Failure, Loading, SureButton } from '../../show/parts.tsx';
import { UndoNotice } from '../undo-notice.tsx';
import { useAction } from '../use-action.ts';
import { type AdminSymbol, SymbolForm } from './symbol-form.tsx';
import { SymbolsFile } from './symbols-file.tsx';

const SHOWN = 12;

/** Symbols: find, define, change, delete. */
export function Symbols({ token }: { token: string }) {
  const action = useAction();
  const [search, setSearch] = useState('');
  const [edited, setEdited] = useState<AdminSymbol | 'new'>();
  const [changed, setChanged] = useState<AdminSymbol>();
  const loaded = useLoad(
    async () => (await askAsOperator<{ symbols: AdminSymbol[] }>(token, '/admin/symbols')).symbols,
    [token],
  );
  const text = search.trim().toLowerCase();
  const found = (loaded.data ?? []).filter((one) =>
    [one.code, one.name, one.category, ...one.aliases].some((part) => part.toLowerCase().includes(text)),
  );
  const save = async ({ code, real: _, ...body }: AdminSymbol) => {
    const path = `/admin/symbols/${encodeURIComponent(code)}`;
    setChanged(undefined);
    const before = loaded.data?.find((one) => one.code === code);
    const saved = await action.run(() => askAsOperator(token, path, { method: 'PUT', body }));
    if (!saved) return;
    setEdited(undefined);
    setChanged(before);
    loaded.reload();
  };
  const remove = async (code: string) => {
    const path = `/admin/symbols/${encodeURIComponent(code)}?confirm=${encodeURIComponent(code)}`;
    await action.run(() => askAsOperator(token, path, { method: 'DELETE' }));
    loaded.reload();
  };
  return (
    <section class="card" aria-labelledby="symbols-title">
      <div class="card-head">
        <h2 id="symbols-title">Symbols</h2>
        <div class="field-row">
          <input
            type="search"
            placeholder="Search symbols"
            aria-label="Search symbols"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <button type="button" class="button" onClick={() => setEdited('new')}>
            New symbol
          </button>
        </div>
      </div>
      {action.error !== undefined && <Failure error={action.error} />}
      {changed && (
        <UndoNotice
          text={`${changed.code} is changed.`}
          disabled={action.isBusy}
          onUndo={async () => {
            await save(changed);
            setChanged(undefined);
          }}
        />
      )}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the symbols" />}
      {edited && (
        <SymbolForm
          key={edited === 'new' ? '' : edited.code}
          symbol={edited === 'new' ? undefined : edited}
          onSave={save}
          onCancel={() => setEdited(undefined)}
        />
      )}
      {loaded.data && found.length === 0 && <p class="hint">No symbol matches.</p>}
      {found.length > 0 && (
        <table class="plain stack">
          <thead>
            <tr>
              {['Symbol', 'Name', 'Category', 'Price in', 'Market', 'Also known as'].map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
              <ActionsHead />
            </tr>
          </thead>
          <tbody>
            {found.slice(0, SHOWN).map((one) => (
              <tr key={one.code}>
                <th scope="row">
                  <a href={linkTo('symbol', one.code)}>{one.code}</a>{' '}
                  {one.status === 'deprecated' && <span class="badge">deprecated</span>}
                </th>
                <td data-label="Name">{one.name}</td>
                <td data-label="Category">{one.category}</td>
                <td data-label="Price in">
                  {one.currency.code}/{one.unit.symbol}
                </td>
                <td data-label="Market">{one.market}</td>
                <td data-label="Also known as">{one.aliases.join(', ') || '—'}</td>
                <td class="actions">
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Change ${one.code}`}
                    onClick={() => setEdited(one)}
                  >
                    Change
                  </button>
                  <SureButton
                    label="Delete"
                    sure="Delete with all prices"
                    describe={one.code}
                    onSure={() => remove(one.code)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {found.length > SHOWN && (
        <p class="hint">and {count(found.length - SHOWN)} more: search for a code, a name or a category</p>
      )}
      {loaded.data && <SymbolsFile token={token} known={loaded.data} onChange={loaded.reload} />}
    </section>
  );
}
