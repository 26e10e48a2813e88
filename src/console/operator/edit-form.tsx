import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** A form with buttons to save, once at a time, and to cancel. `children` are its fields. */
export function EditForm({
  onSave,
  onCancel,
  children,
}: {
  onSave: () => Promise<void>;
  onCancel: () => void;
  children: ComponentChildren;
}) {
  const [isSaving, setSaving] = useState(false);
  const save = async () => {
    setSaving(true);
    await onSave();
    setSaving(false);
  };
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {children}
      <button type="submit" class="button primary" disabled={isSaving}>
        Save
      </button>
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}
