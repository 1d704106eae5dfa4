import { parser } from '@prometheus-io/lezer-promql';

/** A metric that a query reads. */
interface Selector {
  readonly metric: string;
  /** The labels by which it is chosen, with the value of those that must be equal to one. */
  readonly labels: ReadonlyMap<string, string | undefined>;
}

/** What a query reads. */
export interface Query {
  readonly selectors: readonly Selector[];
  /** The labels by which it groups or matches. */
  readonly grouping: readonly string[];
}

/** Parses PromQL. Throws for a query that is not one. */
export function parseQuery(text: string): Query {
  const selectors: { metric: string; labels: Map<string, string | undefined> }[] = [];
  const grouping: string[] = [];
  parser.parse(text).iterate({
    enter: ({ node }) => {
      const of = (child: string) => {
        const found = node.getChild(child);
        return found === null ? '' : text.slice(found.from, found.to);
      };
      if (node.type.isError) throw new Error(`not PromQL at character ${node.from}: ${text}`);
      if (node.name === 'VectorSelector') selectors.push({ metric: of('Identifier'), labels: new Map() });
      if (node.name === 'UnquotedLabelMatcher') {
        const value = of('MatchOp') === '=' ? of('StringLiteral').slice(1, -1) : undefined;
        selectors.at(-1)?.labels.set(of('LabelName'), value);
      }
      if (node.name === 'GroupingLabels') {
        for (const label of node.getChildren('LabelName')) grouping.push(text.slice(label.from, label.to));
      }
    },
  });
  return { selectors, grouping };
}
