import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { DoneNotice } from '../../editing/done-notice.tsx';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { Failure, Loading } from '../../show/parts.tsx';

interface Address {
  name: string;
  url: string;
  own: string;
}

interface AddressesAnswer {
  addresses: Address[];
}

type Urls = Readonly<Record<string, string>>;

/** The addresses that a feed is fetched from. They can be replaced, restored, and the change undone. */
export function Addresses({ token, feed }: { token: string; feed: string }) {
  const path = `/admin/feeds/${encodeURIComponent(feed)}/addresses`;
  const action = useAction();
  const loaded = useLoad(
    async () => (await askAsOperator<AddressesAnswer>(token, path)).addresses,
    [token, feed],
  );
  const [draft, setDraft] = useState<Urls>({});
  const [before, setBefore] = useState<Urls>();
  const known = loaded.data ?? [];
  const save = async (addresses: Urls, undo: Urls | undefined) => {
    const body = { addresses };
    const saved = await action.run(() =>
      askAsOperator<AddressesAnswer>(token, path, { method: 'PUT', body }),
    );
    if (!saved) return;
    setDraft({});
    setBefore(undo);
    loaded.reload();
  };
  const isReplaced = known.some(({ url, own }) => url !== own);
  const isChanged = known.some(({ name, url }) => (draft[name] ?? url) !== url);
  return (
    <form class="addresses" onSubmit={(event) => event.preventDefault()}>
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the addresses" lines={2} />}
      {known.map(({ name, url, own }) => (
        <label key={name}>
          <span>
            Address “{name}” {url !== own && <span class="badge warning">replaced</span>}
          </span>
          <input
            type="url"
            spellcheck={false}
            value={draft[name] ?? url}
            onInput={(event) => setDraft({ ...draft, [name]: event.currentTarget.value.trim() })}
          />
        </label>
      ))}
      {loaded.data && (
        <div class="choices">
          <SureButton
            label="Save the addresses"
            sure="Yes, fetch from there"
            describe={`of ${feed}`}
            disabled={!isChanged || action.isBusy}
            onSure={() => save({ ...urlsOf(known), ...draft }, urlsOf(known))}
          />
          {isReplaced && (
            <SureButton
              label="Use the provider’s own"
              sure="Yes, use the provider’s own"
              describe={`addresses of ${feed}`}
              disabled={action.isBusy}
              onSure={() => save({}, urlsOf(known))}
            />
          )}
        </div>
      )}
      {action.error !== undefined && <Failure error={action.error} />}
      {before && (
        <DoneNotice
          text="The next run uses the new addresses."
          disabled={action.isBusy}
          onUndo={() => save(before, undefined)}
        />
      )}
    </form>
  );
}

function urlsOf(addresses: readonly Address[]): Urls {
  return Object.fromEntries(addresses.map(({ name, url }) => [name, url]));
}
