import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Loaded } from '../api/load.ts';
import { Failure, Loading } from '../show/parts.tsx';
import { DoneNotice } from './done-notice.tsx';
import { type RunningAction, useAction } from './use-action.ts';

/** What a change has done, and what takes it back. */
interface Done {
  text: string;
  undo?: () => Promise<unknown>;
}

export interface ListEditor<T> {
  action: RunningAction;
  /** The item in the form; undefined: none. */
  edited: T | undefined;
  edit(item: T | undefined): void;
  /** The last change, until the next one. */
  done: Done | undefined;
  /** Makes a change and closes the form, unless another one has been opened. What takes it back is offered. */
  change(work: () => Promise<unknown>, effect: Done): Promise<void>;
}

/** The state of a list whose items are edited one at a time. */
export function useListEditor<T>(reload: () => void): ListEditor<T> {
  const action = useAction();
  const [edited, edit] = useState<T>();
  const [done, setDone] = useState<Done>();
  const change = async (work: () => Promise<unknown>, effect: Done) => {
    setDone(undefined);
    if (!(await action.run(work))) return;
    setDone(effect);
    edit((now) => (now === edited ? undefined : now));
    reload();
  };
  const open = (item: T | undefined) => {
    action.clear();
    edit(item);
  };
  return { action, edited, edit: open, done, change };
}

/** The frame of such a list: its title and tools, what failed, what can be undone, and the form above the table. */
export function EditedList<T>({
  id,
  title,
  tools,
  hint,
  loaded,
  editor: { action, done, change },
  children,
}: {
  id: string;
  title: string;
  tools: ComponentChildren;
  hint?: string;
  loaded: Loaded<unknown> & { reload(): void };
  editor: ListEditor<T>;
  children: ComponentChildren;
}) {
  return (
    <section class="card" aria-labelledby={`${id}-title`}>
      <div class="card-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {tools}
      </div>
      {hint && <p class="hint">{hint}</p>}
      {action.error !== undefined && <Failure error={action.error} />}
      {done && (
        <DoneNotice
          text={done.text}
          disabled={action.isBusy}
          onUndo={done.undo && (() => change(done.undo!, { text: 'The change is undone.' }))}
        />
      )}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && (
        <Loading label={`Reading the ${title.toLowerCase()}`} shape="table" />
      )}
      {children}
    </section>
  );
}
