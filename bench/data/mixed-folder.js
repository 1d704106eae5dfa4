import fs from 'node:fs';
import path from 'node:path';
import { LISTED } from '../clients/calls.js';

const LISTED_ENTRIES = 20;

/** A folder that mixed calls may read and write in: the small files, and a folder to list. */
export function mixedFolder(data, scratch) {
  const folder = fs.mkdtempSync(path.join(scratch, 'mixed-'));
  fs.cpSync(data.small().folder, folder, { recursive: true });
  fs.mkdirSync(path.join(folder, LISTED));
  for (let index = 0; index < LISTED_ENTRIES; index++) {
    fs.writeFileSync(path.join(folder, LISTED, `${index}.txt`), 'x');
  }
  return folder;
}
