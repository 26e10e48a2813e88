import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { ago, count } from '../../show/format.ts';
import { ActionsHead, Failure, Loading, SureButton } from '../../show/parts.tsx';
import { useAction } from '../use-action.ts';
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
export function Imports({ token, changes }: { token: string; changes: number }) {
  const action = useAction();
  const loaded = useLoad(
    async () => (await askAsOperator<{ imports: ImportRecord[] }>(token, '/admin/imports')).imports,
    [token, changes],
  );
  const undo = async (run: number) => {
    await action.run(() => undoImport(token, run));
    loaded.reload();
  };
  return (
    <section class="card" aria-labelledby="imports-title">
      <h2 id="imports-title">Imports</h2>
      {action.error !== undefined && <Failure error={action.error} />}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the imports" shape="table" />}
      {loaded.data?.length === 0 && <p class="hint">No file has been imported yet.</p>}
      {loaded.data && loaded.data.length > 0 && (
        <table class="plain stack">
          <thead>
            <tr>
              <th scope="col">Import</th>
              <th scope="col">File</th>
              <th scope="col">Source</th>
              <th scope="col">When</th>
              {['New', 'Corrected', 'Held back', 'Refused'].map((name) => (
                <th scope="col" class="number" key={name}>
                  {name}
                </th>
              ))}
              <ActionsHead />
            </tr>
          </thead>
          <tbody>
            {loaded.data.map((run) => (
              <tr key={run.number}>
                <th scope="row">{run.number}</th>
                <td data-label="File">{run.file}</td>
                <td data-label="Source">{run.source}</td>
                <td data-label="When">{ago(run.startedAt)}</td>
                <td data-label="New" class="number">
                  {count(run.taken)}
                </td>
                <td data-label="Corrected" class="number">
                  {count(run.corrected)}
                </td>
                <td data-label="Held back" class="number">
                  {count(run.held)}
                </td>
                <td data-label="Refused" class="number">
                  {count(run.refused)}
                </td>
                <td class="actions">
                  {run.undoneAt ? (
                    <span class="badge">undone</span>
                  ) : (
                    <SureButton
                      label="Undo"
                      sure="Undo it"
                      describe={`import ${run.number}`}
                      disabled={action.isBusy}
                      onSure={() => undo(run.number)}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
