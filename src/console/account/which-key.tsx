import { useRef, useState } from 'preact/hooks';
import type { AccountAnswer, KeyRecord } from '../api/answers.ts';
import { askWithKey } from '../api/client.ts';

/** Finds the row of a key whose text the user has: the list does not contain it. */
export function WhichKey({
  keys,
  onFound,
}: {
  keys: readonly KeyRecord[];
  onFound: (id: string | undefined) => void;
}) {
  const [text, setText] = useState('');
  const [message, setMessage] = useState('');
  const checks = useRef(0);
  const find = async () => {
    const check = ++checks.current;
    const id = await askWithKey<AccountAnswer>(text.trim(), '/account').then(
      ({ key }) => key.id,
      () => undefined,
    );
    if (check !== checks.current) return; // another text is being checked
    const isListed = keys.some((key) => key.id === id);
    onFound(isListed ? id : undefined);
    setMessage(isListed ? `It is ${id}.` : 'It is none of these keys, or it no longer works.');
  };
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      <label>
        Which key is this?
        <input
          type="password"
          autocomplete="off"
          placeholder="Paste a key"
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        Find it
      </button>
      <span role="status">{message}</span>
    </form>
  );
}
