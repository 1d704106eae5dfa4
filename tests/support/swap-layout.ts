import fs from 'node:fs';
import path from 'node:path';
import { type Layout, makeLayout, SECRET } from '../../src/fence/escape-layouts.fixture.ts';

/** The name of an entry outside the root that no listing may show. */
export const OUTSIDE_NAME = 'secret.txt';

/** Makes a layout in which `root/dir` is a folder and `root/evil` a link out of the root, for a swapper to exchange. */
export function swapLayout(): Layout & { readonly first: string; readonly second: string } {
  const layout = makeLayout({
    name: 'swap',
    path: 'dir/nested.txt',
    expect: { file: 'dir/nested.txt' },
    build: ({ root, outside }) => {
      fs.symlinkSync('../outside', path.join(root, 'evil'));
      for (const top of [path.join(root, 'dir'), outside]) {
        for (let i = 0; i < 4; i += 1)
          fs.writeFileSync(path.join(top, `victim-${i}`), top === outside ? SECRET : 'ours');
        fs.writeFileSync(path.join(top, 'nested.txt'), top === outside ? SECRET : 'ours');
        fs.mkdirSync(path.join(top, 'empty'));
      }
    },
  });
  return {
    ...layout,
    first: path.join(layout.rootPath, 'dir'),
    second: path.join(layout.rootPath, 'evil'),
    [Symbol.dispose]: () => layout[Symbol.dispose](),
  };
}
