import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { inHeader } from '../api/client.ts';
import { rememberKey, setSecret } from '../api/session.ts';

/** Asks for a key. It stays in this tab, unless the user wants it remembered. */
export function KeyForm({ label, children }: { label: string; children?: ComponentChildren }) {
  const [text, setText] = useState('');
  const [isRemembered, setRemembered] = useState(false);
  return (
    <form
      class="secret-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') return;
        setSecret('key', inHeader(text.trim())); // the page shows keys with a “…” that somebody may copy
        if (isRemembered) rememberKey(true);
      }}
    >
      <label for="secret-key">{label}</label>
      <div class="field-row">
        <input
          id="secret-key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          required
        />
        <button type="submit" class="button primary">
          Use this key
        </button>
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={isRemembered}
          onChange={(event) => setRemembered(event.currentTarget.checked)}
        />
        Remember it in this browser
      </label>
      <p class="hint">
        {isRemembered
          ? 'It is kept in this browser until you remove it here. Do not use this on a shared computer.'
          : 'It is kept in this tab only, sent in a header, and deleted when you close the tab.'}
      </p>
      {children}
    </form>
  );
}
