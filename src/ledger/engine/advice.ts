import { sqlStateOf } from './errors.ts';

/** What to do about an error of PostgreSQL, by SQLSTATE; undefined where the message is all there is to say. */
export function adviceOn(error: unknown): string | undefined {
  const state = sqlStateOf(error);
  if (state.startsWith('28')) return 'correct user and password in OPENPIT_DATABASE_URL, or pg_hba.conf';
  return ADVICE.get(state);
}

const ADVICE: ReadonlyMap<string, string> = new Map([
  ['3D000', 'create the database (createdb), or correct its name in OPENPIT_DATABASE_URL'],
  ['25006', 'OPENPIT_DATABASE_URL must name the primary, in a database that is not set to read-only'],
  ['53100', 'free space on the disk of PostgreSQL'],
  ['53300', 'raise max_connections of PostgreSQL or the limit of the user or database, or use a pooler'],
]);
