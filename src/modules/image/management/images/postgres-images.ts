import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ambiguousName, conflict, notFound } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { Images, type ImageKernel, type UsableImage } from '../../contract/image.ports';
import type { ImageEntity } from './image.entity';
import { ImageRepository } from './image.repository';

/** Images for other modules. */
@injectable()
export class PostgresImages extends Images {
  constructor(private readonly images: ImageRepository) {
    super();
  }

  /** The image is not deleted before the caller's transaction ends. */
  override async requireReady(op: Op, projectId: string, ref: string): Promise<UsableImage> {
    const image = await this.find(op, projectId, ref, op.inTransaction ? 'share' : undefined);
    const usable = usableFrom(image);
    if (!usable)
      throw conflict(
        'image_not_ready',
        `The image "${image.name}" is ${image.state}${image.message ? `: ${image.message}` : ''}.`,
        { state: image.state },
      );
    return usable;
  }

  override async byId(op: Op, id: string): Promise<UsableImage | null> {
    const image = await this.images.byId(op, id);
    return image && usableFrom(image);
  }

  private async find(op: Op, projectId: string, ref: string, lock?: 'share'): Promise<ImageEntity> {
    const [own] = looksLikeId(ref)
      ? await this.images.withId(op, ref.toLowerCase(), { projectId }, lock)
      : await this.images.named(op, [projectId], ref, lock);
    if (own) return own;
    const [first, second] = looksLikeId(ref)
      ? await this.images.withId(op, ref.toLowerCase(), { public: true }, lock)
      : await this.images.publicNamed(op, ref, lock);
    if (!first) throw notFound('image', ref);
    if (second) throw ambiguousName('image', ref);
    return first;
  }
}

const usableFrom = (i: ImageEntity): UsableImage | null =>
  i.state === 'ready' && i.virtualBytes !== null && i.sha256 !== null
    ? {
        id: i.id,
        name: i.name,
        virtualBytes: i.virtualBytes,
        sha256: i.sha256,
        architecture: i.architecture,
        firmware: i.firmware,
        vmm: i.vmm,
        kernel: kernelOf(i),
        vendorData: i.vendorData,
      }
    : null;

const kernelOf = (i: ImageEntity): ImageKernel | null =>
  i.commandLine === null || i.kernelSha256 === null || i.kernelBytes === null
    ? null
    : {
        sha256: i.kernelSha256,
        bytes: i.kernelBytes,
        initramfs:
          i.initramfsSha256 === null || i.initramfsBytes === null
            ? null
            : { sha256: i.initramfsSha256, bytes: i.initramfsBytes },
        commandLine: i.commandLine,
      };
