/** One live task per instance. */
export const instanceLock = (input: { instanceId: string }): string => `instance/${input.instanceId}`;
