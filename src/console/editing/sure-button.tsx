import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * A button that asks for confirmation before it does what cannot be undone. Focus moves to "No" while it asks, and back to
 * the button as soon as that is enabled, unless it is elsewhere by then.
 */
export function SureButton({
  label,
  sure,
  describe,
  onSure,
  disabled,
}: {
  label: string;
  sure: string;
  describe: string;
  onSure: () => void;
  disabled?: boolean;
}) {
  const [asking, setAsking] = useState<boolean>();
  const focused = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asking) focused.current?.focus();
  }, [asking]);
  useEffect(() => {
    if (asking !== false || disabled) return;
    if (document.activeElement === document.body) focused.current?.focus();
    setAsking(undefined);
  }, [asking, disabled]);
  if (!asking) {
    return (
      <button
        ref={focused}
        type="button"
        class="button small"
        disabled={disabled}
        aria-label={`${label} ${describe}`}
        onClick={() => setAsking(true)}
      >
        {label}
      </button>
    );
  }
  return (
    <span class="sure">
      <button
        type="button"
        class="button small danger"
        aria-label={`${sure} ${describe}`}
        onClick={({ detail: clicks }) => {
          if (clicks > 1) return; // the second click of a double click on what was here before
          setAsking(false);
          onSure();
        }}
      >
        {sure}
      </button>
      <button
        ref={focused}
        type="button"
        class="button small"
        aria-label={`No, do not ${label.toLowerCase()} ${describe}`.trimEnd()}
        onClick={() => setAsking(false)}
      >
        No
      </button>
    </span>
  );
}
