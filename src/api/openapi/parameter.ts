/** A parameter of the API. Tests check against the running service which parameters are required. */
export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  description: string;
  schema: Readonly<Record<string, unknown>>;
  example?: string;
}
