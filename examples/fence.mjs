// Opens a folder and works beneath it. Run it with: node examples/fence.mjs
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  CancelledError,
  copy,
  isFenceError,
  isFileError,
  listFolder,
  patchFile,
  Root,
  readFile,
  replaceText,
  writeFile,
} from 'ringfence/fence';

const folder = mkdtempSync(path.join(tmpdir(), 'ringfence-example-'));
const root = Root.open('project', folder);
try {
  // Whole or not at all: written beside the target, flushed, then renamed over it. Missing folders are made.
  const notes = root.parse('docs/notes.md');
  await writeFile(root, notes, Buffer.from('# Notes\nto do: everything\n'));
  await writeFile(root, root.parse('log.txt'), Buffer.from('started\n'), { mode: 'append' });

  await replaceText(root, notes, { oldText: 'everything', newText: 'the rest' });
  await patchFile(root, notes, '--- a\n+++ b\n@@ -2 +2,2 @@\n to do: the rest\n+done: the start\n');

  const whole = await readFile(root, notes);
  console.log(`${whole.size} bytes, first line: ${whole.bytes.toString().split('\n')[0]}`);
  const part = await readFile(root, notes, { range: { by: 'lines', offset: 2, limit: 1 } });
  console.log(`line 2 of ${part.linesTotal}: ${part.bytes.toString().trim()}`);

  const copied = await copy({ root, path: root.parse('docs') }, { root, path: root.parse('backup') });
  console.log(`copied ${copied.bytes} bytes to ${copied.destination}`);
  for (const { name, type } of await listFolder(root, root.parse('.'))) console.log(`${type} ${name}`);

  // Neither `..` nor a link leads out, and the error does not say what is there.
  symlinkSync('/etc', path.join(folder, 'way-out'));
  for (const attempt of ['../../etc/passwd', 'way-out/passwd']) {
    try {
      await readFile(root, root.parse(attempt));
    } catch (error) {
      if (!isFenceError(error, 'outside_root')) throw error;
      console.log(`${error.path} in ${error.root}: ${error.code}`);
    }
  }

  try {
    await replaceText(root, notes, { oldText: 'o', newText: '0' });
  } catch (error) {
    if (!isFileError(error, 'text_not_unique')) throw error;
    console.log(`${error.code}: found ${error.details.count} times`);
  }

  const stop = new AbortController();
  stop.abort();
  try {
    await copy({ root, path: root.parse('docs') }, { root, path: root.parse('late') }, {}, { signal: stop.signal });
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    console.log(error.code);
  }
} finally {
  root.close();
  rmSync(folder, { recursive: true });
}
