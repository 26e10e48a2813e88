import { useState } from 'preact/hooks';
import { linkTo } from '../../data/route.ts';
import type { ApiOperation } from './document.ts';
import { Fields } from './fields.tsx';
import { ParametersTable } from './parameters.tsx';
import { Prose } from './prose.tsx';
import { initialValues } from './request.ts';
import { TryIt } from './try-it.tsx';

/** One endpoint: what it takes, what it answers, and a request to copy or send. */
export function OperationDetail({ operation }: { operation: ApiOperation }) {
  const { description, parameters, body, responses } = operation;
  const [values, setValues] = useState(() => initialValues(parameters));
  const successes = responses.filter(({ status }) => status < '400');
  const errors = responses.filter(({ status }) => status >= '400');
  return (
    <div class="operation-detail">
      {description && (
        <p>
          <Prose text={description} />
        </p>
      )}
      {parameters.length > 0 && (
        <ParametersTable parameters={parameters} values={values} onChange={setValues} />
      )}
      {body && (
        <section>
          <h4>
            Body <span class="type">{body.type}</span>
          </h4>
          <Fields schema={body.schema} />
        </section>
      )}
      <TryIt operation={operation} values={values} />
      <section>
        <h4>Responses</h4>
        {successes.map(({ status, description: what, types, schema }) => (
          <div key={status}>
            <p>
              <span class="badge good">{status}</span> <Prose text={what} />{' '}
              <span class="type">{types.join(', ')}</span>
            </p>
            {schema && <Fields schema={schema} />}
          </div>
        ))}
        <ul class="errors">
          {errors.map(({ status, description: codes }) => (
            <li key={status}>
              <span class="badge">{status}</span> <Prose text={codes} />
            </li>
          ))}
        </ul>
        <p class="hint">
          <a href={linkTo('docs', 'errors')}>All error codes</a>, with an example of each.
        </p>
      </section>
    </div>
  );
}
