/** What is kept of the parts of a host's inventory, by part: entries as the part's owner declares them (`kept`). */
export type HostParts = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** A place for the disks of instances on a host: an entry of a part that says how much it holds (`store`). */
export interface HostStore {
  /** Tells it from all others of the host. */
  key: string;
  part: string;
  name: string;
  bytes: number;
}

export const storeKey = (part: string, name: string): string => `${part}/${name}`;

/** What the parts of a host must have so that an instance can be placed there, in the words of the module that knows them. */
export interface HostNeed {
  /** Stable code of the refusal. */
  code: string;
  /** Needs of one code that have the same key ask for the same. */
  key: string;
  /** The reason for operators when the host is refused; undefined when it has what is needed. */
  refuses: (parts: HostParts) => string | undefined;
  /** What tenants are told when no host has it. */
  saying?: string;
}
