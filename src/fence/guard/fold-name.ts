const NOT_ASCII = /[^\0-\x7f]/;
/** Code points that file systems which compare names without regard to case leave out of the comparison. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Returns a text that is equal for all spellings of a name which any file system takes for the same: other case, composed or
 * decomposed characters, invisible ones (https://docs.kernel.org/admin-guide/ext4.html#case-insensitive-file-name-lookups).
 */
export function foldName(name: string): string {
  if (!NOT_ASCII.test(name)) return name.toLowerCase();
  const plain = name.normalize('NFD').replace(IGNORABLE, '');
  // By way of the upper case, because `ß` and `ſ` have more than one lower case.
  return plain.toUpperCase().toLowerCase().normalize('NFD');
}

/** Returns another spelling of a name that a file system which folds names takes for the same; undefined if there is none. */
export function otherSpelling(name: string): string | undefined {
  const others = [name.toUpperCase(), name.toLowerCase(), name.normalize('NFD'), name.normalize('NFC')];
  return others.find((other) => other !== name);
}
