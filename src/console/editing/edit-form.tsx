import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * A form that a button opens, with buttons to save, once at a time, and to cancel, as Escape does. It may be far from that
 * button: it gets the focus, and returns it. `children` are its fields.
 */
export function EditForm({
  label = 'Save',
  disabled = false,
  class: style = 'fields',
  onSave,
  onCancel,
  children,
}: {
  label?: string;
  /** Whether it cannot be saved now. */
  disabled?: boolean;
  class?: string;
  onSave: () => Promise<void>;
  onCancel: () => void;
  children: ComponentChildren;
}) {
  const [isSaving, setSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => borrowFocus(form.current!), []);
  const save = async () => {
    setSaving(true);
    await onSave();
    setSaving(false);
  };
  return (
    <form
      ref={form}
      class={style}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.isComposing) onCancel();
      }}
    >
      {children}
      <button type="submit" class="button primary" disabled={disabled || isSaving}>
        {label}
      </button>
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}

/** Moves the focus to the first field that can be changed. The result moves it back, unless the user has moved on. */
function borrowFocus(form: HTMLFormElement): () => void {
  const { activeElement: opener, body } = document;
  form.querySelector<HTMLElement>('input:not([readonly]), select')?.focus();
  return () => {
    const { activeElement } = document;
    // A button that is disabled while it saves has lost the focus.
    const isLeft = activeElement !== body && !form.contains(activeElement);
    if (!isLeft && opener instanceof HTMLElement) opener.focus();
  };
}
