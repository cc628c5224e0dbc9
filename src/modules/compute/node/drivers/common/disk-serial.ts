/** By which a guest finds a disk: VIRTIO's serial number has 20 bytes at most, so the beginning of the volume's id. */
export const diskSerial = (diskId: string): string => diskId.replaceAll('-', '').slice(0, 20);
