import { upload, type Upload } from '../../lib/api';
import { ApiError, asApiError } from '../../lib/problem';
import { Store } from '../../lib/store';
import type { Image } from '../../lib/types';
import type { BootFiles } from './image-form';

export interface RunningUpload {
  imageId: string;
  name: string;
  /** Bytes. */
  sent: number;
  total: number;
  abort: () => void;
}

/** Uploads of this tab. They go on while the user visits other pages. */
export const uploads = new Store<readonly RunningUpload[]>([]);

const change = (imageId: string, sent: number): void =>
  uploads.set(uploads.get().map((u) => (u.imageId === imageId ? { ...u, sent } : u)));

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
const guard = (): void => {
  if (uploads.get().length > 0) window.addEventListener('beforeunload', warn);
  else window.removeEventListener('beforeunload', warn);
};

/** The disk comes last: with it the image is ready. */
const parts = ['kernel', 'initramfs', 'content'] as const;

/** Sends the files of an image that waits for them. Answers what the server said last; throws `ApiError`. */
export const sendImage = async (image: Image, files: BootFiles): Promise<Image> => {
  let drawn = 0;
  let before = 0;
  let aborted = false;
  let running: Upload<Image> | undefined;
  const total = parts.reduce((sum, part) => sum + (files[part]?.size ?? 0), 0);
  const abort = (): void => {
    aborted = true;
    running?.abort();
  };
  uploads.set([...uploads.get(), { imageId: image.id, name: image.name, sent: 0, total, abort }]);
  guard();
  try {
    let answer = image;
    for (const part of parts) {
      const file = files[part];
      if (file === undefined) continue;
      if (aborted) throw new ApiError(0, 'aborted', 'The upload was stopped.');
      running = upload(`/images/{ref}/${part}`, { ref: image.id }, file, (sent) => {
        const now = Date.now();
        if (now - drawn < 200 && before + sent < total) return;
        drawn = now;
        change(image.id, before + sent);
      });
      answer = await running.done;
      before += file.size;
    }
    return answer;
  } catch (error) {
    throw asApiError(error);
  } finally {
    uploads.set(uploads.get().filter((u) => u.imageId !== image.id));
    guard();
  }
};
