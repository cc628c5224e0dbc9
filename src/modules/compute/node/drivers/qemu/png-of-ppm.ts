import { PNG } from 'pngjs';

/** As QEMU writes it: binary, eight bits a channel, no comments. */
const header = /^P6\s(\d{1,5})\s(\d{1,5})\s255\s/;

/** The same picture as PNG. Throws for anything but a whole binary PPM of eight bits a channel. */
export const pngOfPpm = async (ppm: Buffer): Promise<Buffer> => {
  const [start = '', columns, rows] = header.exec(ppm.subarray(0, 32).toString('latin1')) ?? [];
  const [width, height] = [Number(columns), Number(rows)];
  const pixels = ppm.subarray(start.length);
  if (start === '' || width < 1 || height < 1 || pixels.length !== width * height * 3)
    throw new Error('this is no whole picture in PPM');
  const png = new PNG({ width, height, colorType: 2, inputColorType: 2, inputHasAlpha: false });
  png.data = pixels;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    png
      .pack()
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => resolve(Buffer.concat(chunks)))
      .on('error', reject);
  });
};
