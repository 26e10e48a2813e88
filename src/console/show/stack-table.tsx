import type { ComponentChildren } from 'preact';
import { ActionsHead } from './parts.tsx';

/** The first column has the name of its row. A phone shows the name of a column beside each of its cells. */
export type StackColumn<T> = readonly [name: string, cell: (row: T) => ComponentChildren, kind?: 'number'];

/** A table whose rows are stacked as cards on a phone. */
export function StackTable<T>({
  class: className = 'plain stack',
  rows,
  keyOf,
  isMarked,
  columns: [first, ...others],
  actions,
}: {
  class?: string;
  rows: readonly T[];
  keyOf: (row: T) => string | number;
  isMarked?: (row: T) => boolean;
  columns: readonly [StackColumn<T>, ...StackColumn<T>[]];
  /** The buttons of a row. */
  actions?: (row: T) => ComponentChildren;
}) {
  return (
    <table class={className}>
      <thead>
        <tr>
          {[first, ...others].map(([name, , kind]) => (
            <th scope="col" class={kind} key={name}>
              {name}
            </th>
          ))}
          {actions && <ActionsHead />}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} class={isMarked?.(row) ? 'marked' : undefined}>
            <th scope="row">{first[1](row)}</th>
            {others.map(([name, cell, kind]) => (
              <td data-label={name} class={kind} key={name}>
                {cell(row)}
              </td>
            ))}
            {actions && <td class="actions">{actions(row)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
