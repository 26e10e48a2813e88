import { useState } from 'preact/hooks';
import { askAsOperator, NotSent } from '../../api/client.ts';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { saveFile } from '../../output/save-file.ts';
import { plural } from '../../show/format.ts';
import { Failure, Notice } from '../../show/parts.tsx';
import type { AdminSymbol } from './symbol-form.tsx';

type SymbolEntry = Omit<AdminSymbol, 'real'>;

/** Downloads all symbols as a file, and adds or changes symbols from such a file. */
export function SymbolsFile({
  token,
  known,
  onChange,
}: {
  token: string;
  known: readonly AdminSymbol[];
  onChange: () => void;
}) {
  const action = useAction();
  const [read, setRead] = useState<readonly SymbolEntry[]>();
  const [notice, setNotice] = useState<string>();
  const download = () => {
    const entries = known.map(({ real: _, ...entry }) => `  ${JSON.stringify(entry)}`);
    saveFile('symbols.json', new Blob([`[\n${entries.join(',\n')}\n]\n`], { type: 'application/json' }));
  };
  const open = async (file: File | undefined) => {
    setNotice(undefined);
    setRead(undefined);
    if (file) setRead(await action.run(async () => entriesOf(await file.text())));
  };
  const send = async (symbols: readonly SymbolEntry[]) => {
    const answer = await action.run(() =>
      askAsOperator<{ added: number; changed: number; unchanged: number }>(token, '/admin/symbols', {
        method: 'POST',
        body: { symbols },
      }),
    );
    if (!answer) return;
    setRead(undefined);
    setNotice(`${answer.added} added, ${answer.changed} changed, ${answer.unchanged} unchanged.`);
    onChange();
  };
  const codes = new Set(known.map(({ code }) => code));
  const added = read?.filter(({ code }) => !codes.has(code)).length ?? 0;
  return (
    <details class="more">
      <summary>Many symbols at once</summary>
      <p class="hint">
        The file is a JSON list of symbols. To change symbols, download it, edit it and load it; symbols that
        are not in the file are not changed.
      </p>
      <div class="fields">
        <button type="button" class="button" onClick={download}>
          Download all symbols
        </button>
        <label class="file-field">
          Load a file of symbols
          <input
            type="file"
            accept=".json,application/json"
            onChange={(event) => open(event.currentTarget.files?.[0])}
          />
        </label>
      </div>
      {action.error !== undefined && <Failure error={action.error} />}
      {notice !== undefined && <Notice kind="done" title={notice} />}
      {read && (
        <p class="choices">
          <span>
            The file has {plural(read.length, 'symbol')}: {added} new, {read.length - added} known already.
          </span>
          <SureButton
            label="Add and change them"
            sure="Yes, add and change them"
            describe=""
            disabled={action.isBusy}
            onSure={() => send(read)}
          />
        </p>
      )}
    </details>
  );
}

function entriesOf(text: string): readonly SymbolEntry[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new NotSent('The file is not JSON.');
  }
  if (!Array.isArray(content) || !content.every((one) => typeof one?.code === 'string')) {
    throw new NotSent('The file is not a list of symbols, each with a code.');
  }
  return content;
}
