import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type OpenApiDocument, resolveSchema, type Schema, typeName } from './document.ts';
import { Prose } from './prose.tsx';

export const ReferenceDocument = createContext<OpenApiDocument | undefined>(undefined);

/** Deeper levels are left to the OpenAPI document. */
const DEPTH_MAX = 6;

/** The fields of an object, with those of the objects inside it. */
export function Fields({ schema, depth = 0 }: { schema: Schema; depth?: number }) {
  const document = useContext(ReferenceDocument)!;
  const objects = objectsIn(schema, document);
  if (objects.length === 0 || depth > DEPTH_MAX) return null;
  return (
    <>
      {objects.map((object, i) => (
        <div key={i}>
          {i > 0 && <p class="muted alternative">or</p>}
          <ul class="schema">
            {Object.entries(object.properties ?? {}).map(([name, field]) => (
              <li key={name}>
                <code>{name}</code> <span class="type">{typeName(field)}</span>
                {!object.required?.includes(name) && <span class="type"> · optional</span>}{' '}
                {field.description && <Prose text={field.description} />}
                <Fields schema={field} depth={depth + 1} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

/** The objects that a value may be or contain: through references, alternatives, arrays and maps. */
function objectsIn(schema: Schema, document: OpenApiDocument): Schema[] {
  const { properties, anyOf, items, additionalProperties, ...rest } = resolveSchema(schema, document);
  if (properties) return [{ properties, ...rest }];
  if (anyOf) return anyOf.flatMap((one) => objectsIn(one, document));
  if (items) return objectsIn(items, document);
  return typeof additionalProperties === 'object' ? objectsIn(additionalProperties, document) : [];
}
