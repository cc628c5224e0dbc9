/** Lock key of every task on an image. */
export const imageLock = (imageId: string): string => `image/${imageId}`;
