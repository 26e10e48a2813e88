/** The real program with one feed, `stub`, whose provider is a stub: bun test/support/feeds/feed-program.ts feed run … */
import { runCli } from '../../../src/cli/cli.ts';
import { stubProvider } from './stub-provider.ts';

process.exitCode = await runCli(process.argv.slice(2), [stubProvider('https://stub.example')]);
