import type { Provider } from '../provider.ts';

/** Every provider that can be turned on. */
export const PROVIDERS: readonly Provider[] = [];
