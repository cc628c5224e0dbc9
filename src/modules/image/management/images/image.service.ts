import { injectable, multiInject, optional } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import { Config } from '../../../../core/config/config';
import type { Op } from '../../../../core/db/rows/op';
import { inUse, namedUsers } from '../../../../core/errors/in-use';
import { ambiguousName, forbidden, nameTaken, notFound, Problem, unprocessable } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { Projects } from '../../../identity/contract/identity.ports';
import { checksumParts, digestFault, isDigestAlgorithm } from '../../contract/checksum-form';
import type { createImage, Image, updateImage } from '../../contract/image.api';
import type { ImageConfig } from '../../contract/image.config';
import { ImageUsage, type ImageUsers } from '../../contract/image.ports';
import { refuseUrl } from '../fetch/address-rules';
import { ImageEvents } from './image.events';
import type { ImageEntity } from './image.entity';
import { presentImage } from './image.presenter';
import { ImagePublisher } from './image-publisher';
import { ImageRepository } from './image.repository';
import { ImportImageWorkflow } from '../workflows/import-image.workflow';

export interface Caller {
  access: Access;
  requestId: string;
}

/** Images for users: made, seen and deleted. Their bytes come by upload or import. */
@injectable()
export class ImageService {
  constructor(
    private readonly images: ImageRepository,
    private readonly events: ImageEvents,
    private readonly projects: Projects,
    private readonly workflows: Workflows,
    private readonly importing: ImportImageWorkflow,
    private readonly publisher: ImagePublisher,
    private readonly config: Config,
    @multiInject(ImageUsage) @optional() private readonly usages: ImageUsage[] = [],
  ) {}

  /**
   * 409 `name_taken`; 403 for a public image of somebody else than an admin; 422 for a digest or address that cannot
   * be.
   */
  async create(op: Op, caller: Caller, projectId: string, input: z.output<typeof createImage>): Promise<Image> {
    const { principal } = caller.access;
    if (input.public && !principal.systemRoles.includes('admin')) throw forbidden('image:publish');
    if (input.url !== undefined) refuseUrl(input.url, this.config.section<ImageConfig>('image').allowPrivateUrls);
    const checksum = input.checksum === undefined ? null : normalizeChecksum(input.checksum);
    refuseKernel(input);
    await this.projects.hold(op, projectId);
    const image: ImageEntity = {
      id: timeOrderedUuid(),
      projectId,
      name: input.name,
      description: input.description,
      state: input.url === undefined ? 'queued' : 'importing',
      message: '',
      public: input.public,
      url: input.url ?? null,
      checksum,
      claimedFormat: input.format ?? null,
      sourceFormat: null,
      sourceBytes: null,
      virtualBytes: null,
      storedBytes: null,
      sha256: null,
      architecture: 'x86_64',
      firmware: input.firmware,
      vmm: input.vmm,
      commandLine: input.kernel?.commandLine ?? null,
      kernelSha256: null,
      kernelBytes: null,
      initramfsSha256: null,
      initramfsBytes: null,
      vendorData: input.vendorData ?? '',
      taskId: null,
      worker: null,
      workerSeenAt: null,
      createdAt: new Date(),
    };
    if (!(await this.images.insert(op, image))) throw nameTaken('image', input.name);
    if (input.url !== undefined) {
      const { id } = await this.workflows.start(
        op,
        this.importing.definition,
        { imageId: image.id },
        {
          projectId,
          subject: { kind: 'image', id: image.id, name: image.name },
          createdBy: principal.id,
          requestId: caller.requestId,
        },
      );
      image.taskId = id;
      await this.images.update(op, image.id, { taskId: id });
    }
    await this.events.changed(op, 'created', image);
    return presentImage(image);
  }

  async list(op: Op, access: Access, request: PageRequest): Promise<Page<Image>> {
    const page = await this.images.list(op, access.projects, request);
    return { items: page.rows.map(presentImage), next: page.next };
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Image> {
    return presentImage(await this.find(op, access, projectId, ref));
  }

  /** Changes what was given. 409 `name_taken`. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof updateImage>,
  ): Promise<Image> {
    const image = await this.find(op, access, projectId, ref);
    this.assertOwn(image, access, ref);
    // What guests of every project run as root, and on what: only who may publish an image may change it.
    const ofGuests = [input.vendorData, input.vmm, input.kernel].some((change) => change !== undefined);
    if (image.public && ofGuests && access.projects !== 'all') throw forbidden('image:publish');
    if (input.kernel !== undefined && image.commandLine === null)
      throw unprocessable('body.kernel', 'image_without_kernel', 'The image brings no kernel that could be told this.');
    const changes = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.description !== undefined && { description: input.description }),
      ...(input.vmm !== undefined && { vmm: input.vmm }),
      ...(input.kernel !== undefined && { commandLine: input.kernel.commandLine }),
      ...(input.vendorData !== undefined && { vendorData: input.vendorData ?? '' }),
    };
    if (Object.keys(changes).length === 0) return presentImage(image);
    await this.images.edit(op, image.id, changes);
    const changed = { ...image, ...changes };
    await this.events.changed(op, 'updated', changed);
    return presentImage(changed);
  }

  /**
   * Deletes the image, or stops the work on it first: the task that ends is returned then. 409 `image_in_use` names its
   * users. Copies in the caches of hosts go when room is needed there.
   */
  async remove(op: Op, caller: Caller, projectId: string | undefined, ref: string): Promise<{ taskId: string } | null> {
    const found = await this.find(op, caller.access, projectId, ref);
    this.assertOwn(found, caller.access, ref);
    const image = await this.images.lock(op, found.id, 'update');
    if (!image) throw notFound('image', ref);
    const users: ImageUsers = { first: [], count: 0 };
    for (const usage of this.usages) {
      const { first, count } = await usage.users(op, image.id, namedUsers);
      users.first.push(...first);
      users.count += count;
    }
    // A public image is used by other projects too: those are counted, and named to nobody else.
    const seen = users.first
      .filter((user) => caller.access.sees(user.projectId))
      .map(({ projectId: _, ...user }) => user);
    if (users.count > 0) throw inUse('image_in_use', `The image "${image.name}"`, seen, users.count);
    if (image.state === 'uploading' || image.state === 'importing' || image.state === 'deleting')
      return this.stopWork(op, image, caller.access.principal.id);
    await this.images.remove(op, image.id);
    await this.events.changed(op, 'deleted', image);
    this.publisher.releaseAllAfter(op, image);
    return null;
  }

  /** By id or name; own images before public ones. 404 for what the caller does not see. */
  async find(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<ImageEntity> {
    if (looksLikeId(ref)) {
      const image = await this.images.byId(op, ref.toLowerCase());
      if (!image) throw notFound('image', ref);
      if (!image.public) access.assert(image.projectId, 'image', ref);
      return image;
    }
    const own = await this.images.named(op, projectId === undefined ? access.projects : [projectId], ref);
    const [first, second] = own.length > 0 ? own : await this.images.publicNamed(op, ref);
    if (!first) throw notFound('image', ref);
    if (second) throw ambiguousName('image', ref);
    return first;
  }

  /** Seen because it is public is not enough to change it. */
  assertOwn(image: ImageEntity, access: Access, ref: string): void {
    if (image.public && !access.sees(image.projectId)) throw forbidden(access.permission);
    access.assert(image.projectId, 'image', ref);
  }

  private async stopWork(op: Op, image: ImageEntity, by: string): Promise<{ taskId: string } | null> {
    if (image.state !== 'deleting') {
      await this.images.update(op, image.id, { state: 'deleting' });
      await this.events.changed(op, 'updated', { ...image, state: 'deleting' });
    }
    if (image.taskId === null) return null;
    await this.workflows.cancel(op, image.taskId, by);
    return { taskId: image.taskId };
  }
}

/** A kernel of the image's own comes by upload, and nothing else boots the image then. */
const refuseKernel = ({ kernel, url, firmware }: z.output<typeof createImage>): void => {
  if (kernel === undefined) return;
  if (url !== undefined)
    throw unprocessable(
      'body.url',
      'kernel_by_upload',
      'An image with a kernel of its own is uploaded: kernel, initramfs, then the disk. Leave the address out.',
    );
  if (firmware !== 'any')
    throw unprocessable(
      'body.firmware',
      'kernel_or_firmware',
      'An image boots by its own kernel or by a firmware: name one of them.',
    );
};

const normalizeChecksum = (text: string): string => {
  const { algorithm, hex } = checksumParts(text);
  if (!isDigestAlgorithm(algorithm)) {
    const message = `The algorithm "${algorithm}" is not known: use sha256 or sha512.`;
    throw new Problem({
      status: 400,
      code: 'unknown_algorithm',
      detail: message,
      errors: [{ path: 'body.checksum', code: 'unknown_algorithm', message }],
    });
  }
  const fault = digestFault(algorithm, hex);
  if (fault !== null) throw unprocessable('body.checksum', 'invalid_checksum', fault);
  return `${algorithm}:${hex.toLowerCase()}`;
};
