import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { inspectServer } from '../../../src/core/cli/session/server-trust';
import { runHere } from '../../integration/cli/vcctl-lab';
import { pictures } from '../../support/console-browser';
import { eventually } from '../../support/eventually';
import type { ConsoleSuite } from './console-suite';

const minutes = 60_000;

/** How many of the pixels are the same, from 0 to 1; 0 for pictures of different sizes. */
const likeness = (a: PNG, b: PNG): number => {
  if (a.width !== b.width || a.height !== b.height) return 0;
  let same = 0;
  for (let at = 0; at < a.data.length; at += 4)
    if (a.data.readUInt32BE(at) >>> 8 === b.data.readUInt32BE(at) >>> 8) same += 1;
  return same / (a.width * a.height);
};
const lit = ({ data }: PNG): number => {
  let count = 0;
  for (let at = 0; at < data.length; at += 4) if (data.readUInt32BE(at) >>> 8 !== 0) count += 1;
  return count;
};

/** The screen of a real guest in the browser. The instance `from-the-browser` runs by then. */
export const screenCases = (at: ConsoleSuite): void => {
  /** What the page has drawn, pixel by pixel. */
  const drawn = async (): Promise<PNG> => {
    const url = await at.page
      .locator('[role=application] canvas')
      .first()
      .evaluate((canvas) => (canvas as unknown as { toDataURL: (type: string) => string }).toDataURL('image/png'));
    return PNG.sync.read(Buffer.from(url.replace(/^[^,]*,/, ''), 'base64'));
  };

  it(
    'shows what the guest has on its screen, as its screenshot does, and types into it',
    async () => {
      const { id } = await at.cloud.instance('from-the-browser');
      const serial = await at.cloud.console(id);
      await serial.until(/@@ ready/);
      serial.type("printf 'echo from-the-screen-$1 >/dev/ttyS0\\n' >/bin/said; chmod +x /bin/said\n");
      serial.type('setsid sh -i </dev/tty1 >/dev/tty1 2>&1 & echo shell-$((40 + 2))\n');
      await serial.until(/shell-42/);
      await at.page.goto(at.address(`instances/${id}?tab=console`));
      const toolbar = at.page.getByRole('toolbar', { name: 'Console' });
      await toolbar.getByText('Connected').waitFor();
      await toolbar.getByRole('button', { name: 'Screen' }).click();
      await at.page.waitForURL(/view=screen/);
      await toolbar.getByRole('button', { name: 'Ctrl+Alt+Del' }).waitFor({ timeout: minutes });

      const file = join(at.cloud.directory, 'screen.png');
      const profile = join(at.cloud.directory, 'screen-vcctl.yaml');
      const ca = (await inspectServer(at.cloud.api.url)).chain.at(-1)?.pem;
      writeFileSync(
        profile,
        JSON.stringify({
          current: 'test',
          profiles: [
            {
              name: 'test',
              url: at.cloud.api.url,
              ca,
              project: 'default',
              accessToken: at.cloud.api.token,
              accessExpiresAt: new Date(Date.now() + 3_600_000).toISOString(),
            },
          ],
        }),
      );
      const shot = async (): Promise<PNG> => {
        const { code, err } = await runHere(
          { PATH: process.env['PATH'], HOME: at.cloud.directory, VCCTL_CONFIG: profile },
          [...['instance', 'screenshot', 'from-the-browser', '--file', file]],
        );
        expect([code, err]).toEqual([0, expect.stringContaining(file)]);
        return PNG.sync.read(readFileSync(file));
      };
      // The cursor blinks.
      const before = await eventually('the same picture in the browser and in the screenshot', async () => {
        const [canvas, picture] = [await drawn(), await shot()];
        return lit(picture) > 100 && likeness(canvas, picture) > 0.999 ? canvas : undefined;
      });

      const say = async (word: string): Promise<void> => {
        await at.page.locator('[role=application] canvas').first().click();
        await at.page.keyboard.type('said ', { delay: 60 });
        await at.page.keyboard.press('Shift+KeyA', { delay: 60 });
        await at.page.keyboard.type(`${word}\n`, { delay: 60 });
        await serial.until(new RegExp(`from-the-screen-A${word}`));
      };
      await say('6174');
      const after = await eventually('the typed text on the screen', async () => {
        const canvas = await drawn();
        return lit(canvas) > lit(before) + 100 ? canvas : undefined;
      });
      expect(likeness(before, after)).toBeLessThan(1);
      await at.page.screenshot({ path: join(pictures, 'screen.png') });

      // Out of it by keys, of which the guest holds none down.
      await at.page.keyboard.press('Control+Shift+F6');
      await toolbar.and(at.page.locator(':focus')).waitFor();
      await say('495');
      serial.close();
      await toolbar.getByRole('button', { name: 'Actual size' }).click();
      await toolbar.getByRole('button', { name: 'Fit' }).waitFor();
      await at.page.goto(at.address(`instances/${id}/console?view=screen`));
      await toolbar.getByText('Connected').waitFor();
      await at.page.emulateMedia({ colorScheme: 'dark' });
      await at.page.screenshot({ path: join(pictures, 'screen-full-dark.png') });
      await at.page.emulateMedia({ colorScheme: 'light' });
      await toolbar.getByRole('button', { name: 'Serial' }).click();
      await at.page.locator('.xterm').waitFor();
      await toolbar.getByText('Connected').waitFor();
    },
    3 * minutes,
  );
};
