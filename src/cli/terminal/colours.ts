const STYLES = {
  bold: '1',
  dim: '2',
  red: '31',
  green: '32',
  yellow: '33',
  magenta: '35',
  cyan: '36',
  alarm: '1;41;97',
  match: '1;31',
} as const;

/** A way to show text on a terminal. */
export type Style = keyof typeof STYLES;

/** Returns a text in a style, or as it is where colours are not shown. */
export type Paint = (style: Style, text: string) => string;

/** Returns how to show text on a stream: in colours if it is a terminal that shows them. */
export function paintFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv = process.env): Paint {
  // https://no-color.org
  const colours = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return colours ? (style, text) => `\u001b[${STYLES[style]}m${text}\u001b[0m` : (_style, text) => text;
}
