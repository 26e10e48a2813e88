import { Notice } from '../show/parts.tsx';

/** Says that a change is done, and takes it back if it can be undone. */
export function DoneNotice({
  text,
  label = 'Undo',
  disabled,
  onUndo,
}: {
  text: string;
  label?: string;
  disabled?: boolean;
  onUndo?: (() => unknown) | undefined;
}) {
  const undo = onUndo && (
    <button type="button" class="button" disabled={disabled} onClick={onUndo}>
      {label}
    </button>
  );
  return <Notice kind="done" title={text} action={undo} />;
}
