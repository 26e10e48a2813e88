/** One step of the schema. */
export interface Migration {
  id: number;
  title: string;
  /** In the dialect of both engines. `{clustered}` is the engine's keyword for rows in key order. */
  statements: readonly string[];
}
