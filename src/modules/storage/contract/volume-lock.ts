/** Lock key of every task on a data volume. */
export const volumeLock = (volumeId: string): string => `volume/${volumeId}`;
