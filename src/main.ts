import { runCli } from './cli/cli.ts';

// Only the owner may read what is written: the ledger, its log, the spool, backups.
process.umask(0o077);

const exitCode = await runCli(process.argv.slice(2));
// A failed command may have left a timer or a connection open, which must not keep the process alive.
if (exitCode !== 0) process.exit(exitCode);
