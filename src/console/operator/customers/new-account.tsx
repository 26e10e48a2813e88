import { useState } from 'preact/hooks';

export interface NewAccountBody {
  name: string;
  plan: string;
}

/** The form for a new account. */
export function NewAccount({
  plans,
  isBusy,
  onCreate,
}: {
  plans: readonly string[];
  isBusy: boolean;
  /** Resolves to whether it was created. */
  onCreate: (body: NewAccountBody) => Promise<boolean>;
}) {
  const [name, setName] = useState('');
  const [plan, setPlan] = useState(plans.includes('basic') ? 'basic' : (plans[0] ?? ''));
  return (
    <form
      class="fields"
      onSubmit={async (event) => {
        event.preventDefault();
        // A refused name stays, and so does one that was typed meanwhile.
        if (await onCreate({ name, plan })) setName((now) => (now === name ? '' : now));
      }}
    >
      <label>
        New account
        <input
          value={name}
          placeholder="Name"
          required
          maxLength={200}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        Plan
        <select value={plan} onChange={(event) => setPlan(event.currentTarget.value)}>
          {plans.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <button type="submit" class="button primary" disabled={isBusy}>
        Create account
      </button>
    </form>
  );
}
