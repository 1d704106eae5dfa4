/** One line of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of one answer. */
export class Scrape {
  readonly samples: readonly Sample[];
  /** The types of the metrics that are declared, by name. */
  readonly types: ReadonlyMap<string, string>;

  constructor(text: string) {
    const lines = text.split('\n').filter((line) => line !== '');
    this.types = new Map(
      lines.flatMap((line) => {
        const [, name, type] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? [];
        return name === undefined || type === undefined ? [] : [[name, type] as const];
      }),
    );
    this.samples = lines.filter((line) => !line.startsWith('#')).map(sampleOf);
  }

  /** The samples of a metric that have these labels, and maybe others. */
  find(name: string, labels: Readonly<Record<string, string>> = {}): readonly Sample[] {
    const fits = (sample: Sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
    return this.samples.filter((sample) => sample.name === name && fits(sample));
  }

  /** The sum of these samples; undefined without any. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number | undefined {
    const found = this.find(name, labels);
    return found.length === 0 ? undefined : found.reduce((total, { value }) => total + value, 0);
  }
}

function sampleOf(line: string): Sample {
  const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`not a line of the text format: ${line}`);
  const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/g)];
  if (pairs.map(([text]) => text).join('') !== labels) throw new Error(`not labels: ${labels}`);
  return { name, labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])), value: toNumber(value) };
}

function toNumber(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}
