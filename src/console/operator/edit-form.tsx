import type { ComponentChildren } from 'preact';

/** A form with buttons to save and to cancel. `children` are its fields. */
export function EditForm({
  onSave,
  onCancel,
  children,
}: {
  onSave: () => void;
  onCancel: () => void;
  children: ComponentChildren;
}) {
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      {children}
      <button type="submit" class="button primary">
        Save
      </button>
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}
