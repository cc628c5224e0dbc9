import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ControlPlane } from '../harness/control-plane';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { percentile, timed } from '../harness/statistics';

const uploads = 4;
const virtualGib = 12;
/** Between two questions: a console that is open, not a flood. */
const pauseMs = 20;
const quietQuestions = 300;

/** A small image of a large disk, unlike the others by one block. */
const image = (directory: string, number: number): Buffer => {
  const path = join(directory, `hollow-${number}.qcow2`);
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', path, `${virtualGib}G`]);
  execFileSync('qemu-io', ['-f', 'qcow2', '-c', `write -q -P ${number + 1} ${number * 65_536} 4096`, path], {
    stdio: 'ignore',
  });
  return readFileSync(path);
};

/** What somebody who has nothing to do with it waits for an answer, while others upload. */
export const imageUploads: Figure = {
  name: 'answers during image uploads',
  limitMinutes: 20,
  async run(lab: Lab) {
    const { api } = await ControlPlane.start(lab, 'image_uploads');
    api.patienceMs = 1_000_000;
    const ask = (): Promise<number> => timed(() => api.ok('GET', '/whoami'));
    for (let i = 0; i < 100; i += 1) await ask();
    const quiet: number[] = [];
    while (quiet.length < quietQuestions) {
      quiet.push(await ask());
      await delay(pauseMs);
    }
    const ids: string[] = [];
    for (let i = 0; i < uploads; i += 1) {
      const project = (await api.ok('POST', '/projects', { name: `uploads-${i}` })).id;
      ids.push((await api.ok('POST', `/images?project=${project}`, { name: 'hollow' })).id);
    }
    const images = ids.map((_, i) => image(lab.directory, i));
    lab.say(
      `uploading ${uploads} images of ${virtualGib} GiB, ${images.map((bytes) => `${Math.round(bytes.length / 1024)} KiB`).join(', ')}`,
    );
    let done = false;
    const began = performance.now();
    const all = Promise.all(ids.map((id, i) => api.ok('PUT', `/images/${id}/content`, images[i]))).finally(
      () => (done = true),
    );
    const busy: number[] = [];
    while (!done) {
      busy.push(await ask());
      await delay(pauseMs);
    }
    await all;
    const seconds = Math.round((performance.now() - began) / 1000);
    const note = `p95 of an answer while ${uploads} projects upload images of ${virtualGib} GiB at once (${seconds} s, ${busy.length} answers), against the quiet value; aim: at most twice as long`;
    return [
      {
        figure: 'answer during image uploads, p95',
        ours: percentile(busy, 0.95),
        reference: percentile(quiet, 0.95),
        unit: 'ms',
        note,
      },
    ];
  },
};
