import { FEED_TARGETS } from './feed-targets.ts';
import { HTTP_TARGETS } from './http-targets.ts';
import { REQUEST_TARGETS } from './request-targets.ts';
import type { Target } from './target.ts';

export const TARGETS: readonly Target[] = [...HTTP_TARGETS, ...REQUEST_TARGETS, ...FEED_TARGETS];
