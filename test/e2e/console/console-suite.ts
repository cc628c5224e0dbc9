import type { Locator, Page } from 'playwright-core';
import { TestCloud } from '../../support/cloud';
import { ConsoleBrowser } from '../../support/console-browser';

const minutes = 60_000;

/** What the parts of a suite share: they work on one cloud, in one page, one after the other. */
export interface ConsoleSuite {
  readonly cloud: TestCloud;
  readonly browser: ConsoleBrowser;
  /** Of the administrator. */
  readonly page: Page;
  address(path: string): string;
  /** The field has the focus, and stands in the window. */
  expectInSight(field: Locator): Promise<void>;
  /** Takes the first choice of each kind that is called so. */
  choose(choices: readonly (readonly ['radio' | 'checkbox', RegExp])[]): Promise<void>;
}

/** A furnished cloud of one host, and a browser of its administrator, for the suite that calls it. */
export const consoleSuite = (name: string): ConsoleSuite => {
  let cloud: TestCloud;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    cloud = await TestCloud.start(name, { hosts: ['h1'] });
    await cloud.furnish();
    browser = await ConsoleBrowser.start(cloud);
    page = await browser.page({ name: 'admin', password: cloud.adminPassword });
  }, 4 * minutes);

  afterAll(async () => {
    await browser?.close();
    await cloud?.close();
  }, 2 * minutes);

  const expectInSight = async (field: Locator): Promise<void> => {
    await field.and(page.locator(':focus')).waitFor();
    const box = await field.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(800);
  };
  const choose = async (choices: readonly (readonly ['radio' | 'checkbox', RegExp])[]): Promise<void> => {
    for (const [role, name] of choices) {
      const choice = page.getByRole(role, { name }).first();
      await choice.waitFor();
      if ((await choice.getAttribute('aria-checked')) !== 'true' && !(await choice.isChecked())) await choice.click();
    }
  };

  return {
    get cloud() {
      return cloud;
    },
    get browser() {
      return browser;
    },
    get page() {
      return page;
    },
    address: (path) => browser.address(path),
    expectInSight,
    choose,
  };
};
