import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { TestCloud } from './cloud';
import { repositoryRoot } from './repository';

/** Where pictures go; the one in the README is taken by hand from here. */
export const pictures = join(repositoryRoot, '.cache/pictures');

/** Chromium with pages of one console. What a page throws is kept in `errors`. */
export class ConsoleBrowser {
  readonly errors: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  /**
   * A browser at a place of its own: it gives up what it is loading (`ERR_NETWORK_CHANGED`) as soon as an interface
   * beside it comes or goes, as those of other tests do.
   */
  static async start(cloud: TestCloud): Promise<ConsoleBrowser> {
    mkdirSync(pictures, { recursive: true });
    return ConsoleBrowser.at(cloud.addDesk(), cloud.api.url, cloud.directory);
  }

  /**
   * A browser in a network namespace, for the console at an address.
   * @param directory takes the program that starts it there
   */
  static async at(netns: string, url: string, directory: string): Promise<ConsoleBrowser> {
    const program = join(directory, 'browser');
    writeFileSync(program, `#!/bin/sh\nexec ip netns exec ${netns} /usr/bin/chromium "$@"\n`, { mode: 0o755 });
    const browser = await chromium.launch({
      executablePath: program,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    return new ConsoleBrowser(browser, url);
  }

  address(path: string): string {
    return `${this.url}/console/${path}`;
  }

  /** A page with a session of its own. `prepare` runs before anything is loaded. */
  async page(
    user: { name: string; password: string },
    prepare: (context: BrowserContext, page: Page) => unknown = () => undefined,
  ): Promise<Page> {
    const context = await this.browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.on('pageerror', (error) => this.errors.push(error.message));
    await prepare(context, page);
    await page.goto(this.address(''));
    await page.getByLabel('Name').fill(user.name);
    await page.getByLabel('Password').fill(user.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return page;
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}
