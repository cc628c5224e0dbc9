import { PNG } from 'pngjs';
import { pngOfPpm } from './png-of-ppm';

const ppm = (width: number, height: number, pixels: number[]): Buffer =>
  Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), Buffer.from(pixels)]);

describe('pngOfPpm', () => {
  it('keeps every pixel', async () => {
    // A pixel may look like space after the header.
    const { width, height, data } = PNG.sync.read(
      await pngOfPpm(ppm(2, 2, [10, 32, 9, 255, 0, 0, 0, 255, 0, 1, 2, 3])),
    );
    expect([width, height]).toEqual([2, 2]);
    expect([...data]).toEqual([10, 32, 9, 255, 255, 0, 0, 255, 0, 255, 0, 255, 1, 2, 3, 255]);
  });

  it.each([
    ['cut off', ppm(2, 2, [1, 2, 3])],
    ['longer than it says', ppm(1, 1, [1, 2, 3, 4])],
    ['empty', Buffer.alloc(0)],
    ['without an area', ppm(0, 2, [])],
    ['something else', Buffer.from('\x89PNG')],
  ])('refuses what is %s', async (_what, file) => {
    await expect(pngOfPpm(file)).rejects.toThrow('no whole picture');
  });
});
