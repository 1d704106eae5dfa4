import { testSharedEdits } from '../support/shared-edits.ts';

testSharedEdits(1_000);
