import fs from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { TOKENS, type TokenName } from '../../support/console-server.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Whether there is a browser to test with. */
export const hasBrowser = fs.existsSync(CHROMIUM);

/** Added to the name of tests that are skipped without it. */
export const WITHOUT_BROWSER = hasBrowser ? '' : ` (skipped: ${CHROMIUM} is not installed)`;

const ARGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--no-first-run'],
];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A real browser with an empty profile. */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath: CHROMIUM, args: ARGS }));
  }

  /** Opens a page in a profile of its own. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<ConsolePage> {
    // The page's rules against foreign scripts also hold for axe-core, which is injected from here.
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const opened = new ConsolePage(page);
    await page.goto(`${url}/console`);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

/** A page of the console. Remembers what the browser complains about. */
export class ConsolePage {
  readonly page: Page;
  /** Errors of scripts, and what the content security policy refused. */
  readonly complaints: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      // A request that is refused on purpose is no mistake of the page.
      if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
        this.complaints.push(message.text());
    });
  }

  async signIn(name: TokenName): Promise<void> {
    await this.page.getByLabel('Token').fill(TOKENS[name]);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.getByRole('tab', { name: /Live/ }).waitFor();
    await this.page.getByText('Connected').waitFor();
  }

  async view(name: 'Live' | 'Calls' | 'History' | 'Roots'): Promise<void> {
    await this.page.getByRole('tab', { name: new RegExp(`^ ?${name}`) }).click();
  }

  /** Returns the serious and critical violations of accessibility rules that axe-core finds. */
  async violations(): Promise<string[]> {
    await this.page.evaluate(fs.readFileSync(AXE, 'utf8'));
    const results = await this.page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe.run(),
    );
    return results.violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
      );
  }

  /** By how many pixels the page is wider than the window. */
  overflow(): Promise<number> {
    return this.page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    ) as Promise<number>;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}
