// The entry point of a thread that makes one change and ends: see change-in-thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { toWorkerError } from '../../runtime/worker-error.ts';
import { applyEdit } from './change.ts';
import type { EditReply, EditRequest } from './change-in-thread.ts';

const { original, change } = workerData as EditRequest;

try {
  const { content, result } = applyEdit(original && asBuffer(original), change);
  // A short one may lie in memory that Node shares among buffers and does not give away.
  const isWhole = content.byteLength === content.buffer.byteLength;
  reply({ content, result }, isWhole ? [content.buffer as ArrayBuffer] : []);
} catch (error) {
  reply({ failure: toWorkerError(error) });
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function reply(message: EditReply, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved);
}
