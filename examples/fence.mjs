// Opens a folder and works beneath it. Run it with: node examples/fence.mjs
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { copy, isFenceError, listFolder, patchFile, Root, readFile, replaceText, writeFile } from 'ringfence/fence';

const folder = mkdtempSync(path.join(tmpdir(), 'ringfence-example-'));
const root = Root.open('project', folder);
try {
  // Whole or not at all: written beside the target, flushed, then renamed over it. Missing folders are made.
  const notes = root.parse('docs/notes.md');
  await writeFile(root, notes, Buffer.from('# Notes\nto do: everything\n'));
  await replaceText(root, notes, { oldText: 'everything', newText: 'the rest' });
  await patchFile(root, notes, '--- a\n+++ b\n@@ -2 +2,2 @@\n to do: the rest\n+done: the start\n');

  const { bytes, linesTotal } = await readFile(root, notes, { range: { by: 'lines', offset: 2 } });
  console.log(`${linesTotal} lines, from the second: ${JSON.stringify(bytes.toString())}`);

  const copied = await copy(
    { root, path: root.parse('docs') },
    { root, path: root.parse('backup') },
    { recursive: true },
  );
  console.log(`copied ${copied.bytes} bytes to ${copied.destination}`);
  for (const { name, type } of await listFolder(root, root.parse('.'))) console.log(`${type} ${name}`);

  // Neither `..` nor a link leads out, and the error does not say what is there.
  symlinkSync('/etc', path.join(folder, 'way-out'));
  for (const way of ['../../etc/passwd', 'way-out/passwd']) {
    try {
      await readFile(root, root.parse(way));
    } catch (error) {
      if (!isFenceError(error, 'outside_root')) throw error;
      console.log(`${way}: ${error.code}`);
    }
  }
} finally {
  root[Symbol.dispose]();
  rmSync(folder, { recursive: true });
}
