// Entry point of a worker thread that applies one edit; see edit-in-worker.ts.
import { serveParent } from '../../runtime/serve-parent.ts';
import { applyEdit, type Edit, type EditResult } from './edit.ts';
import type { EditCall } from './edit-in-worker.ts';
import type { EditOutcome } from './text/edit-outcome.ts';

serveParent<EditCall, EditOutcome<EditResult<Edit>>, never>({
  call: ({ original, edit }, { done, failed }) => {
    try {
      const outcome = applyEdit(original && toBuffer(original), edit);
      const { buffer, byteLength } = outcome.content;
      // A short buffer may be a slice of Node's shared pool, which cannot be transferred.
      done(outcome, byteLength === buffer.byteLength ? [buffer as ArrayBuffer] : []);
    } catch (error) {
      failed(error);
    }
  },
});

/** Wraps the bytes of a `Buffer`, which structured cloning turns into a plain `Uint8Array`. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
