import { SureButton } from './sure-button.tsx';

/** The buttons of a row in a list that is edited. */
export function RowActions({
  name,
  kind = '',
  sure,
  isBusy,
  onEdit,
  onDelete,
}: {
  name: string;
  /** What it is, before its name, as in `the plan basic`. */
  kind?: string;
  /** What is confirmed before it is deleted. */
  sure: string;
  isBusy: boolean;
  onEdit: () => void;
  onDelete: () => void;
}) {
  return (
    <>
      <button
        type="button"
        class="button small"
        aria-label={['Change', kind, name].filter(Boolean).join(' ')}
        onClick={onEdit}
      >
        Change
      </button>
      <SureButton label="Delete" sure={sure} describe={name} disabled={isBusy} onSure={onDelete} />
    </>
  );
}
