import { systemClock } from '../../runtime/clock.ts';
import { VERSION } from '../../runtime/version.ts';
import type { Command } from '../framework/command.ts';
import { SOURCE_FLAGS, withRates } from './source.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  ledgerOptional: true,
  summary: 'Serve the Model Context Protocol over standard input and output, for agents',
  details:
    'Configure an agent to start this command. It answers questions about prices with tools such as find_symbols, latest_prices and price_series. Servers offer the same at /mcp.',
  examples: ['mcp', 'mcp --url https://rates.example.com'],
  flags: SOURCE_FLAGS,
  async run(call) {
    await withRates(call, async (ask) => {
      const { serveAgent } = await import('../../mcp/stdio.ts'); // only this command needs it
      await serveAgent(ask, VERSION, () => systemClock.now());
    });
  },
};
