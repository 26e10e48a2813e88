import { ROW_GROUPS } from '../rows.ts';
import { testRows } from './test-rows.ts';

testRows(ROW_GROUPS.soak);
