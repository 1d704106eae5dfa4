/** The lines of a metric: what it is, then its samples. */
interface Family {
  readonly head: string[];
  readonly samples: string[];
}

/**
 * Returns the metrics of several processes as one text of Prometheus' format, in which all samples of a metric have to
 * stand together. The samples must differ by a label.
 */
export function mergeTexts(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) {
    let family: Family | undefined;
    let isNew = false;
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (line.startsWith('# HELP ')) {
        const name = line.split(' ', 3)[2] ?? '';
        isNew = !families.has(name);
        family = families.get(name) ?? { head: [], samples: [] };
        families.set(name, family);
      }
      if (!line.startsWith('#')) family?.samples.push(line);
      else if (isNew) family?.head.push(line);
    }
  }
  return [...families.values()].map(({ head, samples }) => `${[...head, ...samples].join('\n')}\n`).join('\n');
}
