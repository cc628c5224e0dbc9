import { existsSync, readdirSync } from 'node:fs';
import type { Scenarios, ScenarioCloud, ScenarioSubject } from '../../../core/testing/scenario';

const filesIn = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);

const imageSight = async (cloud: ScenarioCloud, { id }: ScenarioSubject): Promise<Record<string, unknown>> => {
  const images = await cloud.query<{ sha256: string | null }>(
    'SELECT state, message, sha256, virtual_bytes FROM image WHERE id = $1',
    [id],
  );
  return {
    image: images.map(({ sha256, ...image }) => ({
      ...image,
      stored: sha256 !== null && existsSync(cloud.imagePath(`${sha256}.raw`)),
    })),
    incoming: filesIn(cloud.imagePath('incoming')).filter((file) => file.startsWith(id)).length,
    live: await cloud.query(
      `SELECT type, state FROM task WHERE subject_id = $1 AND state NOT IN ('succeeded', 'failed', 'cancelled')`,
      [id],
    ),
  };
};

export const imageScenarios: Scenarios = {
  'image.import': {
    prepare: async (cloud) => ({ kind: 'image', id: '', name: cloud.name('image') }),
    start: async (cloud, subject) => {
      const made = await cloud.api.ok<{ id: string; taskId: string }>('POST', '/images?project=default', {
        name: subject.name,
        format: 'raw',
        url: `${cloud.url}/${subject.name}`,
      });
      return { taskId: made.taskId, subject: { ...subject, id: made.id } };
    },
    sight: imageSight,
    cleanUp: async (cloud, { id }) => {
      const answer = await cloud.api.call<{ taskId?: string } | undefined>('DELETE', `/images/${id}`);
      if (answer.status === 404) return;
      if (answer.status >= 300) throw new Error(`deleting the image: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (answer.body?.taskId !== undefined) await cloud.settled(answer.body.taskId);
    },
  },
};
