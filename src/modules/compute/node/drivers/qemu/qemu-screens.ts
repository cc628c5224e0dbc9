import { constants, lstat, open, unlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { connectOwned } from '../../../../../core/host/files/owned-socket';
import { isRunning } from '../../../../../core/host/processes/process-identity';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { screenshotLimit } from '../../../contract/instance.verbs';
import { socketFolder } from '../common/vmm-files';
import { noScreen, type VmHandle } from '../vmm-driver';
import { pngOfPpm } from './png-of-ppm';
import { qemuSockets } from './qemu-arguments';
import { QmpClient } from './qmp-client';
import { QmpError } from './qmp-error';

/** In the VMM's own folder, the only place that it may write to. */
export const screenshotFile = 'screen.img';
/** Milliseconds: a guest's screen is written to a file by QEMU's main loop. */
const deadlineMs = 10_000;
/** Three bytes for each of 4096 × 4096 pixels, more than any screen of QEMU's VGA has. */
const longestPpm = 48 * 1024 * 1024 + 64;

type Format = 'png' | 'ppm';

/** Screens of QEMU's machines: looked at over VNC, or once. */
export class QemuScreens {
  /** By instance: whoever asks while one is made gets that one. */
  private readonly shots = new Map<string, Promise<Buffer>>();

  /** @param formats what `screendump` is asked for, in this order: PNG only since QEMU 7.1, and not in every build */
  constructor(private readonly formats: readonly Format[] = ['png', 'ppm']) {}

  /** @param offered whether machines that are started now get a screen */
  async connect(handle: VmHandle, offered: boolean): Promise<Socket> {
    await this.require(handle, offered);
    return connectOwned(join(socketFolder(handle), qemuSockets.vnc), handle.user).catch((error: unknown) => {
      throw new VerbFailure('vmm_unresponsive', "QEMU's VNC server does not answer.", false, {}, { cause: error });
    });
  }

  /** @param offered whether machines that are started now get a screen */
  async shoot(handle: VmHandle, offered: boolean): Promise<Buffer> {
    await this.require(handle, offered);
    const { instanceId } = handle;
    const made = this.shots.get(instanceId) ?? this.dump(handle).finally(() => this.shots.delete(instanceId));
    this.shots.set(instanceId, made);
    return made;
  }

  /** A machine of an earlier build has none until it is started anew; its VNC socket is what tells. */
  private async require(handle: VmHandle, offered: boolean): Promise<void> {
    if (!isRunning(handle.process)) throw new VerbFailure('not_running', 'The VM is not running.', true);
    const there = await lstat(join(socketFolder(handle), qemuSockets.vnc)).then(
      () => true,
      () => false,
    );
    if (there) return;
    throw noScreen(
      offered
        ? 'It was started by an older release, without a screen: stop it and start it again.'
        : 'The QEMU of its host has no VNC or no VGA built in: use the serial console.',
    );
  }

  private async dump(handle: VmHandle): Promise<Buffer> {
    const path = join(socketFolder(handle), screenshotFile);
    try {
      const format = await this.ask(handle, path);
      const image = await readOwned(path, handle.user, format === 'png' ? screenshotLimit : longestPpm);
      const png = format === 'png' ? image : await pngOfPpm(image);
      if (png.length > screenshotLimit) throw tooLarge();
      return png;
    } catch (error) {
      if (!(error instanceof QmpError)) throw error;
      throw new VerbFailure(
        'vmm_unresponsive',
        "QEMU's monitor failed.",
        false,
        {},
        { cause: error, detail: error.message },
      );
    } finally {
      await unlink(path).catch(() => undefined);
    }
  }

  /** Has the screen written to `path`; in which format it could. */
  private async ask(handle: VmHandle, path: string): Promise<Format> {
    const qmp = await QmpClient.connect(join(socketFolder(handle), qemuSockets.commands), handle.user, deadlineMs);
    try {
      let refused: unknown;
      for (const format of this.formats) {
        try {
          // What an older QEMU does not know it must not be told.
          await qmp.execute('screendump', { filename: path, ...(format === 'png' && { format }) }, deadlineMs);
          return format;
        } catch (error) {
          if (!(error instanceof QmpError) || error.errorClass !== 'GenericError') throw error;
          refused = error;
        }
      }
      throw refused;
    } finally {
      qmp.close();
    }
  }
}

const tooLarge = (): VerbFailure =>
  new VerbFailure(
    'screenshot_too_large',
    `Its screen shows too much for a picture of ${screenshotLimit / 1024 / 1024} MiB.`,
    true,
  );

/**
 * A file that its owner, who is not trusted, has just written in a folder of its own: no link, no pipe and no device in
 * its place is followed, and no more than `limit` bytes are read.
 */
const readOwned = async (path: string, user: number, limit: number): Promise<Buffer> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.uid !== user)
      throw new VerbFailure('vmm_refused', 'QEMU wrote no picture of its screen.', false);
    if (found.size > limit) throw tooLarge();
    const buffer = Buffer.alloc(found.size);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};
