import { upload, type Upload } from '../../lib/api';
import { asApiError } from '../../lib/problem';
import { Store } from '../../lib/store';
import type { Image } from '../../lib/types';

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

/** Sends the file of an image that waits for it. Answers what the server said; throws `ApiError`. */
export const sendImage = async (image: Image, file: File): Promise<Image> => {
  let drawn = 0;
  const running: Upload<Image> = upload('/images/{ref}/content', { ref: image.id }, file, (sent) => {
    const now = Date.now();
    if (now - drawn < 200 && sent < file.size) return;
    drawn = now;
    change(image.id, sent);
  });
  uploads.set([
    ...uploads.get(),
    { imageId: image.id, name: image.name, sent: 0, total: file.size, abort: running.abort },
  ]);
  guard();
  try {
    return await running.done;
  } catch (error) {
    throw asApiError(error);
  } finally {
    uploads.set(uploads.get().filter((u) => u.imageId !== image.id));
    guard();
  }
};
