// The entry of a worker thread that applies one edit: see edit-in-worker.ts.
import { serveParent } from '../../runtime/serve-parent.ts';
import { applyEdit, type Edit, type EditOutcome, type EditResult } from './edit.ts';
import type { EditCall } from './edit-in-worker.ts';

serveParent<EditCall, EditOutcome<EditResult<Edit>>, never>({
  call: ({ original, edit }, { done, failed }) => {
    try {
      const outcome = applyEdit(original && toBuffer(original), edit);
      const { buffer, byteLength } = outcome.content;
      // A short buffer may lie in memory that Node shares among buffers and does not give away.
      done(outcome, byteLength === buffer.byteLength ? [buffer as ArrayBuffer] : []);
    } catch (error) {
      failed(error);
    }
  },
});

/** A buffer arrives from another thread as a plain array of bytes. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
