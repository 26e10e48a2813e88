import { Notice } from '../show/parts.tsx';

/** Says that a change is done, and takes it back. */
export function UndoNotice({
  text,
  label = 'Undo',
  disabled,
  onUndo,
}: {
  text: string;
  label?: string;
  disabled?: boolean;
  onUndo: () => void;
}) {
  return (
    <Notice
      kind="done"
      title={text}
      action={
        <button type="button" class="button" disabled={disabled} onClick={onUndo}>
          {label}
        </button>
      }
    />
  );
}
