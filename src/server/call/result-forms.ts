import { DEFAULT_RESULT_FORM, type ResultForm, type ResultMode, resultForm } from '../../tools/result-form.ts';

/** What the operator decided about results. */
export interface ResultSettings {
  /** A mode for every client, or `auto` to choose by the name that a client declares. */
  readonly results: ResultMode | 'auto';
  /** The most characters of one result; undefined if the operator set no limit. */
  readonly maxResultChars: number | undefined;
}

/**
 * The limit in text mode where the operator set none: there a result is for the model alone, and models have budgets.
 */
const DEFAULT_TEXT_CHARS = 100_000;

interface TextClient {
  /** Shows that the client passes the model nothing but `structuredContent`. */
  readonly evidence: string;
  /** The most bytes that reach the model whole, if they may be fewer than those of `DEFAULT_TEXT_CHARS`. */
  readonly maxResultBytes?: number;
}

/**
 * Clients that pass the model nothing but `structuredContent`, as escaped JSON, if a result has any. They get text
 * alone. Names are those of `clientInfo`. All other clients, also unknown ones, get both.
 */
const TEXT_CLIENTS: Readonly<Record<string, TextClient>> = {
  // Tried with 2.1.197. Reported for 2.1.280, with and without an outputSchema.
  'claude-code': { evidence: 'https://github.com/anthropics/claude-code/issues/79944' },
  // Tried with 0.166 and 0.169. The app of the same name behaves alike. What exceeds 10,000 tokens, of four bytes each,
  // loses its middle (https://github.com/openai/codex/issues/14466), so the model would go on after lines that it never
  // saw.
  'codex-mcp-client': { evidence: 'https://github.com/openai/codex/issues/38287', maxResultBytes: 40_000 },
};

/** Chooses the form of results for each client. */
export class ResultForms {
  readonly #ofTextClients = new Map<string, ResultForm>();
  #ofOthers: ResultForm = DEFAULT_RESULT_FORM;

  constructor(settings: ResultSettings) {
    this.replace(settings);
  }

  /** Replaces the settings. */
  replace({ results, maxResultChars }: ResultSettings): void {
    const form = (mode: ResultMode, maxBytes?: number): ResultForm => {
      if (maxResultChars !== undefined || mode !== 'text') return resultForm(mode, maxResultChars);
      if (maxBytes === undefined) return resultForm(mode, DEFAULT_TEXT_CHARS);
      return { ...resultForm(mode, maxBytes), countsBytes: true };
    };
    this.#ofOthers = form(results === 'auto' ? 'both' : results);
    for (const [name, client] of Object.entries(TEXT_CLIENTS))
      this.#ofTextClients.set(name, form(results === 'auto' ? 'text' : results, client.maxResultBytes));
  }

  /**
   * Returns the form for the client of that name, undefined for one that declared none. It is the same object each time,
   * until it is replaced.
   */
  of(clientName: string | undefined): ResultForm {
    return (clientName !== undefined && this.#ofTextClients.get(clientName)) || this.#ofOthers;
  }
}
