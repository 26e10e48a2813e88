import { type ApiParameter, typeName } from './document.ts';
import { Prose } from './prose.tsx';
import type { Values } from './request.ts';

/** The parameters of an endpoint, with a field for the value of each. */
export function ParametersTable({
  parameters,
  values,
  onChange,
}: {
  parameters: readonly ApiParameter[];
  values: Values;
  onChange: (values: Values) => void;
}) {
  return (
    <section>
      <h4>Parameters</h4>
      <table class="plain parameters">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Meaning</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {parameters.map((parameter) => (
            <tr key={parameter.name}>
              <th scope="row">
                <code>{parameter.name}</code>
                <span class="type">
                  {parameter.required ? 'required' : 'optional'}, in the {parameter.in}
                </span>
              </th>
              <td>
                {parameter.description && <Prose text={parameter.description} />}{' '}
                <span class="type">{typeName(parameter.schema)}</span>
              </td>
              <td>
                <ValueField
                  parameter={parameter}
                  value={values[parameter.name] ?? ''}
                  onChange={(value) => onChange({ ...values, [parameter.name]: value })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ValueField({
  parameter,
  value,
  onChange,
}: {
  parameter: ApiParameter;
  value: string;
  onChange: (value: string) => void;
}) {
  const label = `Value of ${parameter.name}`;
  const options = parameter.schema.enum;
  if (!options)
    return (
      <input aria-label={label} value={value} onInput={(event) => onChange(event.currentTarget.value)} />
    );
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">not sent</option>
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  );
}
