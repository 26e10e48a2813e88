import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { DoneNotice } from '../../editing/done-notice.tsx';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { ago, count } from '../../show/format.ts';
import { Failure, Loading } from '../../show/parts.tsx';
import { StackTable } from '../../show/stack-table.tsx';
import { undoImport } from './send-file.ts';

interface ImportRecord {
  number: number;
  file: string;
  source: string;
  startedAt: string;
  endedAt: string | null;
  undoneAt: string | null;
  taken: number;
  corrected: number;
  held: number;
  refused: number;
}

/** The last imports, each of which can be undone. `changes` counts imports made on this page. */
export function Imports({ token, changes, onUndo }: { token: string; changes: number; onUndo: () => void }) {
  const action = useAction();
  const [done, setDone] = useState<string>();
  const loaded = useLoad(
    async () => (await askAsOperator<{ imports: ImportRecord[] }>(token, '/admin/imports')).imports,
    [token, changes],
  );
  const undo = async (run: number) => {
    setDone(undefined);
    if (await action.run(() => undoImport(token, run))) setDone(`Import ${run} is undone.`);
    loaded.reload();
    onUndo();
  };
  return (
    <section class="card" aria-labelledby="imports-title">
      <h2 id="imports-title">Imports</h2>
      {action.error !== undefined && <Failure error={action.error} />}
      {done && <DoneNotice text={done} />}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the imports" shape="table" />}
      {loaded.data?.length === 0 && <p class="hint">No file has been imported yet.</p>}
      {loaded.data && loaded.data.length > 0 && (
        <StackTable
          rows={loaded.data}
          keyOf={(run) => run.number}
          columns={[
            ['Import', (run) => run.number],
            ['File', (run) => run.file],
            ['Source', (run) => run.source],
            ['When', (run) => ago(run.startedAt)],
            ['New', (run) => count(run.taken), 'number'],
            ['Corrected', (run) => count(run.corrected), 'number'],
            ['Held back', (run) => count(run.held), 'number'],
            ['Refused', (run) => count(run.refused), 'number'],
          ]}
          actions={(run) =>
            run.undoneAt ? (
              <span class="badge">undone</span>
            ) : (
              <SureButton
                label="Undo"
                sure="Undo it"
                describe={`import ${run.number}`}
                disabled={action.isBusy}
                onSure={() => undo(run.number)}
              />
            )
          }
        />
      )}
    </section>
  );
}
