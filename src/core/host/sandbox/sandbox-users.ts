/** Section `sandbox` of the configuration, as far as it is about users. */
export interface UserRange {
  firstUser: number;
  users: number;
}

/**
 * How the range of user ids that need no account is shared out. The first sixteen are for children of the product
 * itself, the others for instances.
 */
export interface SandboxUsers {
  /** Reads and converts images. */
  imageTools: number;
  dhcp: number;
  /** Boots trial guests. */
  trial: number;
  /** A group, of those that may open an instance's taps. */
  taps: number;
  instances: { first: number; last: number };
}

const reserved = 16;

export const sandboxUsers = ({ firstUser, users }: UserRange): SandboxUsers => ({
  imageTools: firstUser,
  dhcp: firstUser + 1,
  trial: firstUser + 2,
  taps: firstUser + 3,
  instances: { first: firstUser + reserved, last: firstUser + users - 1 },
});
