import { DuckDBInstance } from '@duckdb/node-api';

/** The rows of a query, with numbers as numbers and everything else as text. */
export async function duckdb(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
