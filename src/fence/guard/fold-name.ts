const NOT_ASCII = /[^\0-\x7f]/;
/** Code points that file systems which compare names without regard to case leave out of the comparison. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Returns a text that is equal for all spellings of a name which any file system takes for the same: other case,
 * composed or decomposed characters, invisible ones
 * (https://docs.kernel.org/admin-guide/ext4.html#case-insensitive-file-name-lookups).
 */
export function foldName(name: string): string {
  if (!NOT_ASCII.test(name)) return name.toLowerCase();
  const plain = name.normalize('NFD').replace(IGNORABLE, '');
  // By way of the upper case, because `ß` and `ſ` have more than one lower case.
  return plain.toUpperCase().toLowerCase().normalize('NFD');
}

/** Returns other spellings of a name of which a file system that folds names takes at least one for the same. */
export function otherSpellings(name: string): string[] {
  // Letter by letter, since `ß` in upper case is two letters, which are another name for many file systems.
  const upper = [...name].map((letter) =>
    letter.toUpperCase().length === letter.length ? letter.toUpperCase() : letter,
  );
  const others = [upper.join(''), name.toLowerCase(), name.toUpperCase(), name.normalize('NFD'), name.normalize('NFC')];
  return [...new Set(others)].filter((other) => other !== name);
}
