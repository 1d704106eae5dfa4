import { type ResultForm, type ResultMode, resultForm } from '../../tools/result-form.ts';

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

/**
 * Clients that pass the model nothing but `structuredContent`, as escaped JSON, if a result has any; each with the
 * evidence. They get text alone. Names are those of `clientInfo`. All other clients, also unknown ones, get both.
 */
const TEXT_CLIENTS: Readonly<Record<string, string>> = {
  // Tried with 2.1.197. Reported for 2.1.280, with and without an outputSchema.
  'claude-code': 'https://github.com/anthropics/claude-code/issues/79944',
  // Tried with 0.166. The app of the same name behaves alike.
  'codex-mcp-client': 'https://github.com/openai/codex/issues/38287',
};

/** Chooses the form of results for each client. */
export class ResultForms {
  readonly #settings: ResultSettings;
  readonly #forms = new Map<ResultMode, ResultForm>();

  constructor(settings: ResultSettings) {
    this.#settings = settings;
  }

  /**
   * Returns the form for the client of that name, undefined for one that declared none. Forms of one mode are the same
   * object.
   */
  of(clientName: string | undefined): ResultForm {
    const { results } = this.#settings;
    if (results !== 'auto') return this.#form(results);
    return this.#form(clientName !== undefined && Object.hasOwn(TEXT_CLIENTS, clientName) ? 'text' : 'both');
  }

  #form(mode: ResultMode): ResultForm {
    const known = this.#forms.get(mode);
    if (known !== undefined) return known;
    const { maxResultChars = mode === 'text' ? DEFAULT_TEXT_CHARS : undefined } = this.#settings;
    const form = resultForm(mode, maxResultChars);
    this.#forms.set(mode, form);
    return form;
  }
}
