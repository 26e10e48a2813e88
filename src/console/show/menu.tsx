import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * A button that opens a small panel below it. Escape, a click elsewhere, and leaving it with the keyboard close it. What is in
 * the panel is rendered when it may be opened next: its code may have to be loaded.
 */
export function Menu({
  label,
  children,
  align = 'start',
}: {
  label: ComponentChildren;
  children: (close: () => void) => ComponentChildren;
  align?: 'start' | 'end';
}) {
  const box = useRef<HTMLDetailsElement>(null);
  const [isNeeded, setNeeded] = useState(false);
  const prepare = () => setNeeded(true);
  const close = (refocus: boolean) => {
    if (!box.current?.open) return;
    box.current.open = false;
    if (refocus) box.current.querySelector('summary')?.focus();
  };
  useEffect(() => {
    const onPointer = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) close(false);
    };
    addEventListener('pointerdown', onPointer);
    return () => removeEventListener('pointerdown', onPointer);
  }, []);
  return (
    <details
      class="menu"
      ref={box}
      onPointerEnter={prepare}
      onFocusIn={prepare}
      onToggle={prepare}
      onKeyDown={(event) => event.key === 'Escape' && close(true)}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next && !box.current?.contains(next)) close(false);
      }}
    >
      <summary class="button small">{label}</summary>
      <div class={`menu-panel ${align}`}>{isNeeded && children(() => close(true))}</div>
    </details>
  );
}
