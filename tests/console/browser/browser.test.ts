import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConsoleServer, TOKENS } from '../../support/console-server.ts';
import { type ConsolePage, hasBrowser, TestBrowser, WITHOUT_BROWSER } from './test-browser.ts';

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`);
const TEXT = LINES.join('');
const CHANGED = LINES.with(2, 'three\n').with(29, 'thirty\n').join('');

describe.skipIf(!hasBrowser)(`in a browser${WITHOUT_BROWSER}`, () => {
  let server: ConsoleServer;
  let browser: TestBrowser;
  const opened: ConsolePage[] = [];
  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), TestBrowser.launch()]);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    for (const page of opened.splice(0)) {
      expect(page.complaints).toEqual([]);
      await page.close();
    }
  });

  async function open(...options: Parameters<TestBrowser['open']> extends [string, ...infer O] ? O : never) {
    const page = await browser.open(server.base, ...options);
    opened.push(page);
    return page;
  }

  async function signedIn(...options: Parameters<typeof open>) {
    const page = await open(...options);
    await page.signIn('operator');
    return page;
  }

  test('one signs in and out, and a wrong token is refused with a reason', async () => {
    const { page } = await open();
    await page.getByLabel('Token').fill(TOKENS.agent);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This token is not for the console').waitFor();
    await page.getByLabel('Token').fill(TOKENS.operator);
    await page.keyboard.press('Enter');
    await page.getByText('Connected').waitFor();
    expect(await page.title()).toBe('Live · Ringfence console');
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(JSON.stringify(await page.evaluate('({ ...localStorage, ...sessionStorage })'))).not.toContain(
      TOKENS.operator,
    );
    await page.reload();
    await page.getByText('Connected').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  test('an answer that comes before the first frame is shown', async () => {
    const { page } = await open();
    await page.addInitScript('globalThis.fetch = async () => new Response("{}", { status: 401 })');
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  test('the slash key works before the first frame of the list', async () => {
    const { page } = await signedIn();
    const id = await page.evaluate(`
      globalThis.requestAnimationFrame = () => 0;
      location.hash = '#calls';
      new Promise((resolve) => {
        new MutationObserver(() => {
          if (document.getElementById('filter-text') === null) return;
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
          resolve(document.activeElement.id);
        }).observe(document.body, { childList: true, subtree: true });
      })`);
    expect(id).toBe('filter-text');
  });

  test('signing out while the server cannot be reached still leaves no way back on this page', async () => {
    const { page } = await signedIn();
    await page.route('**/sign-out', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
    // The browser reports the request that was cut off on purpose.
    opened[0]?.complaints.splice(0);
  });

  test('calls appear as they end, violations stand out, and filters narrow them', async () => {
    const view = await signedIn();
    const { page } = view;
    await view.view('Calls');
    server.place('code', 'seen.txt', 'x');
    await server.agent.ok('read_file', { root: 'code', path: 'seen.txt' });
    await page.getByRole('row', { name: /seen\.txt/ }).waitFor();
    await server.agent.fails('read_file', { root: 'code', path: '../outside.txt' });
    const violation = page.getByRole('row', { name: /outside\.txt/ });
    await violation.waitFor();
    expect(await violation.textContent()).toContain('Violation');
    await server.agent.ok('list_folder', { root: 'docs', path: '' });
    await page.getByLabel('Outcome').selectOption('violation');
    await page.getByRole('row', { name: /seen\.txt/ }).waitFor({ state: 'detached' });
    expect(await violation.count()).toBe(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Filter by text').fill('SEEN');
    await violation.waitFor({ state: 'detached' });
    expect(await page.getByRole('row', { name: /seen\.txt/ }).count()).toBe(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Root', { exact: true }).selectOption('docs');
    await page.getByRole('row', { name: /seen\.txt/ }).waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /list_folder/ })
      .first()
      .click();
    const details = page.getByRole('complementary', { name: 'Details of the call' });
    expect(await details.textContent()).toMatch(/Tokenagent/);
  });

  test('the live view counts calls and plots them', async () => {
    const { page } = await signedIn();
    await server.agent.ok('list_folder', { root: 'code', path: '' });
    await page.getByRole('cell', { name: 'list_folder' }).waitFor();
    expect(await page.locator('.plot canvas').count()).toBe(2);
    const isDrawn = await page.evaluate(`
      [...document.querySelectorAll('.plot canvas')].every((canvas) =>
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0))
    `);
    expect(isDrawn).toBe(true);
  });

  test('a running call shows its progress and is stopped', async () => {
    const { page } = await signedIn();
    server.placeHuge('code', 'huge.bin');
    const call = server.agent.call('hash_file', { root: 'code', path: 'huge.bin', algorithm: 'md5' });
    const stop = page.getByRole('button', { name: 'Stop hash_file huge.bin' });
    await stop.waitFor();
    await page.getByRole('progressbar', { name: 'Progress of hash_file' }).waitFor();
    await stop.click();
    expect((await call).isError).toBe(true);
    await stop.waitFor({ state: 'detached' });
    await page.getByText('hash_file was stopped.').waitFor();
  });

  test('a question is answered with Allow and Refuse, and by nobody who does not see its root', async () => {
    const view = await signedIn();
    const { page } = view;
    const other = await open();
    await other.signIn('writer');
    server.place('code', 'old/f.txt', 'x');
    const refused = server.agent.call('remove_folder', { root: 'code', path: 'old' });
    await page.getByRole('button', { name: /^Refuse remove_folder old/ }).click();
    expect((await refused).text).toContain('said no');
    const allowed = server.agent.call('remove_folder', { root: 'code', path: 'old' });
    await page.getByRole('button', { name: /^Allow remove_folder old/ }).waitFor();
    expect(await page.title()).toBe('(1) Live · Ringfence console');
    expect(await other.page.getByRole('button', { name: /Allow/ }).count()).toBe(0);
    await page.getByRole('button', { name: /^Allow remove_folder old/ }).click();
    expect((await allowed).isError).toBe(false);
    await page.getByRole('heading', { name: 'Waiting for approval' }).waitFor({ state: 'detached' });
  });

  test('a change is shown and undone, over newer work only by force', async () => {
    server.place('code', 'f.txt', TEXT);
    const write = (content: string) =>
      server.agent.ok('write_file', { root: 'code', path: 'f.txt', content, mode: 'overwrite' });
    await write(CHANGED);
    const view = await signedIn();
    const { page } = view;
    await view.view('History');
    await page
      .getByRole('button', { name: /write_file.*f\.txt/ })
      .first()
      .click();
    await page.getByText('+thirty').waitFor();
    await page.getByRole('button', { name: 'Undo this change' }).click();
    await page.getByText('The change was undone.').waitFor();
    expect(server.text('code', 'f.txt')).toBe(TEXT);
    await write('newer');
    await page
      .getByRole('button', { name: /console.*f\.txt/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Undo this change' }).click();
    const dialog = page.getByRole('dialog', { name: 'Newer work is in the way' });
    expect(await dialog.textContent()).toContain('f.txt was changed since');
    await dialog.getByRole('button', { name: 'Undo anyway' }).click();
    await expect.poll(() => server.text('code', 'f.txt')).toBe(CHANGED);
  });

  test('a review is decided by hunk, by file and as a whole', async () => {
    await using own = await ConsoleServer.start();
    own.place('code', 'f.txt', TEXT);
    own.place('code', 'gone.txt', 'gone');
    await own.agent.ok('write_file', { root: 'code', path: 'f.txt', content: CHANGED, mode: 'overwrite' });
    await own.agent.ok('remove_file', { root: 'code', path: 'gone.txt' });
    await own.agent.ok('write_file', { root: 'code', path: 'new/a.txt', content: 'a', mode: 'overwrite' });
    const view = await browser.open(own.base);
    opened.push(view);
    const { page } = view;
    await view.signIn('operator');
    await view.view('History');
    await page.getByRole('tab', { name: 'Review' }).click();
    await page.getByText('3 differences to review').waitFor();
    await page.getByRole('button', { name: /^Accept hunk @@ -1,6/ }).click();
    await page.getByText('+three').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Take back f.txt' }).click();
    await expect.poll(() => own.text('code', 'f.txt')).toBe(LINES.with(2, 'three\n').join(''));
    await page.getByRole('button', { name: 'Take back gone.txt' }).click();
    await expect.poll(() => own.text('code', 'gone.txt')).toBe('gone');
    await page.getByRole('button', { name: 'Take back all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take back all' }).click();
    await expect.poll(() => own.text('code', 'new/a.txt')).toBe(undefined);
    await page.getByText('Nothing changed in code since then.').waitFor();
  });

  test('everything is done with the keyboard alone', async () => {
    const view = await open();
    const { page } = view;
    const focused = () =>
      page.evaluate("document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''");
    const tabTo = async (name: RegExp) => {
      for (let left = 60; left > 0; left -= 1) {
        if (name.test(String(await focused()))) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`the focus never gets to ${name}`);
    };
    await page.getByLabel('Token').waitFor();
    await page.keyboard.type(TOKENS.operator);
    await page.keyboard.press('Enter');
    await page.getByText('Connected').waitFor();
    server.place('code', 'keys/f.txt', 'x');
    const call = server.agent.call('remove_folder', { root: 'code', path: 'keys' });
    await page.getByRole('button', { name: /^Allow remove_folder keys/ }).waitFor();
    await tabTo(/^Allow remove_folder keys/);
    await page.keyboard.press('Enter');
    expect((await call).isError).toBe(false);
    await tabTo(/^ ?Live/);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('remove_folder');
    await page
      .getByRole('row', { name: /remove_folder/ })
      .first()
      .waitFor();
    await page
      .getByRole('row', { name: /read_file|list_folder/ })
      .first()
      .waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Details of the call' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary', { name: 'Details of the call' }).waitFor({ state: 'detached' });
    await tabTo(/Sign out/);
    await page.keyboard.press('Enter');
    await page.getByLabel('Token').waitFor();
  });

  test('two people see only their roots', async () => {
    const [all, docs] = [await signedIn(), await open()];
    await docs.signIn('writer');
    await server.agent.ok('list_folder', { root: 'code', path: '' });
    await server.agent.ok('list_folder', { root: 'docs', path: '' });
    for (const view of [all, docs]) {
      await view.view('Calls');
      await view.page
        .getByRole('row', { name: /docs\// })
        .first()
        .waitFor();
    }
    expect(await all.page.getByRole('row', { name: /code\// }).count()).toBeGreaterThan(0);
    expect(await docs.page.getByRole('row', { name: /code\// }).count()).toBe(0);
    await docs.view('Roots');
    await docs.page.getByRole('region', { name: 'Root docs' }).waitFor();
    expect(await docs.page.getByRole('region', { name: 'Root code' }).count()).toBe(0);
    await docs.page.goto(`${server.base}/console#history/code`);
    const choice = docs.page.locator('.toolbar select');
    await choice.waitFor();
    expect(await choice.locator('option').allTextContents()).toEqual(['docs']);
  });

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    test.each([1280, 390])('no view breaks an accessibility rule or is wider than %i pixels', async (width) => {
      server.place('code', 'f.txt', TEXT);
      await server.agent.ok('write_file', { root: 'code', path: 'f.txt', content: CHANGED, mode: 'overwrite' });
      await server.agent.fails('read_file', { root: 'code', path: '../outside.txt' });
      const view = await open({ colorScheme, viewport: { width, height: 800 } });
      const { page } = view;
      await page.getByLabel('Token').waitFor();
      const check = async (what: string) => {
        // A colour that is fading in has not got its contrast yet.
        await page.waitForTimeout(300);
        expect([what, await view.violations()]).toEqual([what, []]);
        expect([what, await view.overflow()]).toEqual([what, 0]);
      };
      await check('sign-in');
      await view.signIn('operator');
      server.place('code', 'asked/f.txt', 'x');
      const call = server.agent.call('remove_folder', { root: 'code', path: 'asked' });
      await page.getByRole('button', { name: /^Refuse/ }).waitFor();
      await page.getByRole('cell', { name: 'read_file' }).waitFor();
      await check('live');
      await page.getByRole('button', { name: /^Refuse/ }).click();
      await call;
      await view.view('Calls');
      await page
        .getByRole('row', { name: /outside\.txt/ })
        .first()
        .click();
      await check('calls');
      await view.view('History');
      await page
        .getByRole('button', { name: /write_file.*f\.txt/ })
        .first()
        .click();
      await page.getByText('+thirty').waitFor();
      await check('change');
      if (width < 720) await page.getByRole('button', { name: 'Changes' }).click();
      await page.getByRole('tab', { name: 'Review' }).click();
      await page.getByText(/differences? to review/).waitFor();
      await check('review');
      await view.view('Roots');
      await page.getByRole('region', { name: 'Root code' }).waitFor();
      await check('roots');
    });
  });
});
