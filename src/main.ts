import { runCli } from './cli/cli.ts';

// Whatever is written is for its owner alone: the ledger, its log, the spool, backups.
process.umask(0o077);

const exitCode = await runCli(process.argv.slice(2));
// What failed half-way may have left a timer or a connection open, and must not keep the process for it.
if (exitCode !== 0) process.exit(exitCode);
