import { utf8Length } from '../../../lib/format';

/** User data that is no typed text: a file's bytes as they are. */
export interface DataFile {
  name: string;
  bytes: Uint8Array;
}

/** Bytes of what is given. */
export const userDataSize = (text: string, file: DataFile | null): number => file?.bytes.length ?? utf8Length(text);
