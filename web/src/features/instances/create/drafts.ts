import type { DataFile } from './data-file';

export interface ChosenNetwork {
  id: string;
  address: string;
}

/** Everything that was filled in to create instances. */
export interface Draft {
  name: string;
  count: string;
  description: string;
  flavorId: string | null;
  imageId: string | null;
  networks: ChosenNetwork[] | null;
  keyIds: string[];
  pasted: string;
  userData: string;
  dataFile: DataFile | null;
  /** Network whose card is the way out; empty leaves it to the server. */
  wayOut: string;
  configDrive: string;
  secureBoot: boolean;
  tpm: boolean;
  balloon: boolean;
  vsock: boolean;
  /** By name, whether only to read. */
  shares: Readonly<Record<string, boolean>>;
  /** What each does; empty for none. */
  watchdog: string;
  panic: string;
  /** Empty: what the flavor has. */
  maxVcpus: string;
  maxMemory: string;
  vmm: string;
  grace: string;
  /** Empty: never. */
  restartPolicy: string;
  host: string;
}

export const emptyDraft: Draft = {
  name: '',
  count: '1',
  description: '',
  flavorId: null,
  imageId: null,
  networks: null,
  keyIds: [],
  pasted: '',
  userData: '',
  dataFile: null,
  wayOut: '',
  configDrive: '',
  secureBoot: false,
  tpm: false,
  balloon: false,
  vsock: false,
  shares: {},
  watchdog: '',
  panic: '',
  maxVcpus: '',
  maxMemory: '',
  vmm: '',
  grace: '30',
  restartPolicy: '',
  host: '',
};

const most = 10;
/** By task. In memory only: user data may hold secrets. */
const drafts = new Map<string, Draft>();

/** Keeps what a create was asked with, for when its task fails. */
export const keepDraft = (taskId: string, draft: Draft): void => {
  drafts.set(taskId, draft);
  for (const old of drafts.keys()) {
    if (drafts.size <= most) break;
    drafts.delete(old);
  }
};

export const draftOf = (taskId: string | null): Draft | undefined => (taskId === null ? undefined : drafts.get(taskId));

/** Nothing of one user may show to the next. */
export const forgetDrafts = (): void => drafts.clear();
