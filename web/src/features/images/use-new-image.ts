import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { api } from '../../lib/api';
import { fieldErrors, type ApiError } from '../../lib/problem';
import { useWrite } from '../../lib/queries';
import { useStore } from '../../lib/store';
import type { CreateImage, Image } from '../../lib/types';
import { toast } from '../../ui/feedback/toast';
import { followTask } from '../tasks/open-task';
import { bodyOf, emptyImage, filesOf, nameFrom, type BootFiles, problemsOf, type NewImageDraft } from './image-form';
import { sendImage, uploads } from './uploads';

/** Makes the image, and sends its bytes when they come from this computer. */
const useImageCreation = (query: { project?: string }, files: BootFiles, onClose: () => void) => {
  const queries = useQueryClient();
  const running = useStore(uploads);
  const [imageId, setImageId] = useState<string | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  /** Whether the form is still there to say what went wrong: uploads outlive it. */
  const shown = useRef(true);
  useEffect(() => {
    shown.current = true;
    return () => void (shown.current = false);
  }, []);
  const send = async (image: Image): Promise<void> => {
    setImageId(image.id);
    try {
      const { taskId } = await sendImage(image, files);
      onClose();
      if (taskId === null) toast.ok(`${image.name} uploaded`);
      else followTask(taskId);
    } catch (error) {
      const problem = error as ApiError;
      setFailed(problem);
      setImageId(null);
      if (!shown.current) toast.bad(`${image.name} was not uploaded`, problem);
      // What waits for bytes that will not come is of no use to anybody.
      await api.delete('/images/{ref}', { path: { ref: image.id } }).catch(() => undefined);
    } finally {
      void queries.invalidateQueries({ queryKey: ['images'] });
    }
  };
  const create = useWrite((body: CreateImage) => api.post('/images', { body, query }), {
    touches: ['images', 'tasks'],
    onDone: (image) => {
      if (files.content !== undefined) return void send(image);
      onClose();
      followTask(image.taskId);
    },
  });
  return {
    error: create.error ?? failed,
    busy: create.isPending || imageId !== null,
    upload: running.find((u) => u.imageId === imageId),
    start: (body: CreateImage): void => create.mutate(body),
    forget: (): void => setFailed(null),
  };
};

/** The state of the form: what is filled in, what is wrong with it, and how far the upload is. */
export const useNewImage = (query: { project?: string }, onClose: () => void) => {
  const [draft, setDraft] = useState(emptyImage);
  const [tried, setTried] = useState(false);
  const change = (part: Partial<NewImageDraft>): void => setDraft((old) => ({ ...old, ...part }));
  const creation = useImageCreation(query, filesOf(draft), onClose);
  const problems = problemsOf(draft);
  const refused = fieldErrors(creation.error);
  return {
    draft,
    change,
    error: creation.error,
    busy: creation.busy,
    upload: creation.upload,
    /** What is wrong with a member, once it is time to say so. */
    show: (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null,
    /** Proposes a name from where the disk comes from, unless there is one. */
    suggest: (path: string): void => setDraft((old) => (old.name === '' ? { ...old, name: nameFrom(path) } : old)),
    submit: (event: FormEvent): void => {
      event.preventDefault();
      setTried(true);
      creation.forget();
      if (creation.busy || Object.values(problems).some((p) => p !== null)) return;
      creation.start(bodyOf(draft));
    },
  };
};

export type NewImageForm = ReturnType<typeof useNewImage>;
