import { useRef, useState } from 'preact/hooks';
import { DoneNotice } from '../../editing/done-notice.tsx';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { count, plural } from '../../show/format.ts';
import { Failure, Notice } from '../../show/parts.tsx';
import { FirstRealPrice, type PriceFormProps } from './first-real-price.tsx';
import { ImportFields } from './import-fields.tsx';
import { Preview } from './preview.tsx';
import { ReadingRules } from './reading-rules.tsx';
import { type ImportAnswer, type ImportForm, NO_RULES, sendFile, undoImport } from './send-file.ts';

/** Uploads a file of daily prices: preview first, then import, then undo if it was wrong. */
export function Upload({ token, simulated, onChange }: PriceFormProps) {
  const action = useAction();
  const [file, setFile] = useState<File>();
  const [form, setForm] = useState<ImportForm>(NO_RULES);
  const [previewed, setPreviewed] = useState<{ file: File; form: ImportForm; answer: ImportAnswer }>();
  const [imported, setImported] = useState<ImportAnswer>();
  const [notice, setNotice] = useState<string>();
  // What is confirmed must be what was previewed.
  const effect = previewed?.file === file && previewed?.form === form ? previewed?.answer : undefined;
  const change = (fields: Partial<ImportForm>) => setForm({ ...form, ...fields });
  const input = useRef<HTMLInputElement>(null);
  const preview = () => {
    // A browser does not report that the same file was chosen again.
    const chosen = input.current?.files?.[0];
    setFile(chosen);
    return send(chosen, true);
  };
  const send = async (sent: File | undefined, dryRun: boolean) => {
    if (!sent) return;
    setNotice(undefined);
    const answer = await action.run(() => sendFile(token, sent, form, dryRun));
    setPreviewed(dryRun && answer ? { file: sent, form, answer } : undefined);
    setImported(dryRun ? undefined : answer);
    if (answer && !dryRun) onChange();
  };
  const undo = async (run: number) => {
    const undone = await action.run(() => undoImport(token, run));
    if (!undone) return;
    setImported(undefined);
    setNotice(
      `Import ${run} is undone: ${plural(undone.withdrawn, 'day')} withdrawn, ${count(undone.restored)} restored.`,
    );
    onChange();
  };
  const usable = effect ? effect.taken + effect.corrected : 0;
  return (
    <section class="card" aria-labelledby="upload-title">
      <h2 id="upload-title">Import a file</h2>
      <p class="hint">
        Daily prices as CSV or XLSX, with or without a header, columns in any order. A preview shows the
        effect of each row first; nothing is written before you confirm.
      </p>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void preview();
        }}
      >
        <label class="file-field">
          File
          <input
            ref={input}
            type="file"
            accept=".csv,.tsv,.txt,.gz,.zip,.xlsx"
            required
            onChange={(event) => setFile(event.currentTarget.files?.[0])}
          />
        </label>
        <ImportFields form={form} onChange={change} />
        <button type="submit" class="button" disabled={action.isBusy}>
          {action.isBusy && !effect ? 'Reading…' : 'Preview'}
        </button>
        <ReadingRules form={form} onChange={change} />
      </form>
      {action.error !== undefined && <Failure error={action.error} />}
      {notice !== undefined && <Notice kind="done" title={notice} />}
      {effect && <Preview answer={effect} />}
      {effect && usable > 0 && (
        <FirstRealPrice symbols={effect.symbols.filter((symbol) => simulated.has(symbol))} />
      )}
      {effect && (
        <div class="choices confirm">
          {usable > 0 ? (
            <SureButton
              label={`Import ${plural(usable, 'price')}`}
              sure={`Yes, import ${plural(usable, 'price')}`}
              describe={file?.name ?? ''}
              disabled={action.isBusy}
              onSure={() => send(file, false)}
            />
          ) : (
            <span class="muted">There is nothing to import.</span>
          )}
        </div>
      )}
      {imported?.run != null && (
        <DoneNotice
          text={`Import ${imported.run} is done: ${plural(imported.taken, 'new price')}, ${imported.corrected} corrected, ${imported.held} held back.`}
          label="Undo this import"
          disabled={action.isBusy}
          onUndo={() => undo(imported.run!)}
        />
      )}
    </section>
  );
}
