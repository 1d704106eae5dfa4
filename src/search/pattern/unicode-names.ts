/** Long names of general categories, see https://www.unicode.org/Public/UCD/latest/ucd/PropertyValueAliases.txt. */
const CATEGORIES = `
  C Other, Cc Control, Cc cntrl, Cf Format, Cn Unassigned, Co Private_Use, Cs Surrogate,
  L Letter, LC Cased_Letter, Ll Lowercase_Letter, Lm Modifier_Letter, Lo Other_Letter, Lt Titlecase_Letter,
  Lu Uppercase_Letter, M Mark, M Combining_Mark, Mc Spacing_Mark, Me Enclosing_Mark, Mn Nonspacing_Mark,
  N Number, Nd Decimal_Number, Nd digit, Nl Letter_Number, No Other_Number,
  P Punctuation, P punct, Pc Connector_Punctuation, Pd Dash_Punctuation, Pe Close_Punctuation, Pf Final_Punctuation,
  Pi Initial_Punctuation, Po Other_Punctuation, Ps Open_Punctuation,
  S Symbol, Sc Currency_Symbol, Sk Modifier_Symbol, Sm Math_Symbol, So Other_Symbol,
  Z Separator, Zl Line_Separator, Zp Paragraph_Separator, Zs Space_Separator, Any Any, Assigned Assigned`;

/** Quoted text, a named class, any other escape, and the brackets that open and close a class. */
const TOKENS = /\\Q.*?(?:\\E|$)|\\([pP])\{(\^?)([^{}]*)\}|\\.|\[:\^?\w+:\]|\[\^?\]?|\]/gs;

/**
 * Returns a pattern with the names of Unicode classes as re2js knows them. As in Go 1.25, `\p{Letter}` is `\p{L}`,
 * `\p{ASCII}` is known, and case, spaces, underscores and hyphens of names do not matter.
 */
export function withShortNames(pattern: string): string {
  const short = new Map<string, string>();
  for (const [code = '', long = ''] of CATEGORIES.split(',').map((pair) => pair.trim().split(' ')))
    for (const name of [code, long]) short.set(plain(name), code);
  let inClass = false;
  return pattern.replace(TOKENS, (token: string, p: string | undefined, negation: string, name: string) => {
    if (p === undefined) {
      if (inClass ? token === ']' : token.startsWith('[')) inClass = !inClass;
      return token;
    }
    const isNegated = (p === 'P') !== (negation === '^');
    if (plain(name) === 'ascii') {
      const ascii = isNegated ? '[:^ascii:]' : '[:ascii:]';
      return inClass ? ascii : `[${ascii}]`;
    }
    return `\\${isNegated ? 'P' : 'p'}{${short.get(plain(name)) ?? titleCase(name)}}`;
  });
}

function plain(name: string): string {
  return name.replace(/[\s_-]/g, '').toLowerCase();
}

/** Returns the name of a script as Unicode writes it: `old italic` as `Old_Italic`. */
function titleCase(name: string): string {
  const words = name.trim().split(/[\s_-]+/);
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()).join('_');
}
