import path from 'node:path';

/** Whether a host path lies below a folder. Both are real paths, as `Dir.whereabouts` gives them. */
export function isWithin(folder: string, place: string): boolean {
  return place !== folder && place.startsWith(path.join(folder, path.sep));
}
