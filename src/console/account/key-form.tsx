import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { setSecret } from '../api/session.ts';

/** Asks for a key or a token. It stays in this tab. */
export function SecretForm({
  name,
  label,
  button,
  children,
}: {
  name: 'key' | 'admin';
  label: string;
  button: string;
  children?: ComponentChildren;
}) {
  const [text, setText] = useState('');
  return (
    <form
      class="secret-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') setSecret(name, text.trim());
      }}
    >
      <label for={`secret-${name}`}>{label}</label>
      <div class="field-row">
        <input
          id={`secret-${name}`}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          required
        />
        <button type="submit" class="button primary">
          {button}
        </button>
      </div>
      <p class="hint">It stays in this tab, travels in a header, and is forgotten when you close the tab.</p>
      {children}
    </form>
  );
}
