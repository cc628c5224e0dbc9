import { pipeline } from 'node:stream/promises';
import { injectable } from 'inversify';
import { Database } from '../../../../core/db/database';
import { conflict, notFound, Problem } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { NodeRoutes, type NodeRoute } from '../../../../core/m2m/management/node-route';
import { type BootFile, Images, type UsableImage } from '../../contract/image.ports';
import { ImageFiles } from './image-files';

/** Raw image bytes for enrolled hosts. */
@injectable()
export class ImageNodeRoutes extends NodeRoutes {
  constructor(
    private readonly database: Database,
    private readonly images: Images,
    private readonly files: ImageFiles,
  ) {
    super();
  }

  /** `?from=N` continues at byte N. The answer has exactly the bytes from there to the file's end: of the disk, the kernel
   * or the initramfs. */
  override nodeRoutes(): NodeRoute[] {
    return [
      this.file('content', (image) => ({ sha256: image.sha256, bytes: image.virtualBytes })),
      this.file('kernel', ({ kernel }) => kernel),
      this.file('initramfs', ({ kernel }) => kernel?.initramfs ?? null),
    ];
  }

  private file(name: string, of: (image: UsableImage) => BootFile | null): NodeRoute {
    return {
      method: 'GET',
      path: `/images/:id/${name}`,
      handle: async ({ params, raw, res }) => {
        const id = params['id'] ?? '';
        const image = looksLikeId(id) ? await this.images.byId(this.database.op, id.toLowerCase()) : null;
        const file = image && of(image);
        if (!file) throw notFound('image', id);
        const { sha256, bytes } = file;
        if ((await this.files.size(sha256)) !== bytes)
          throw conflict('image_bytes_missing', 'The bytes of this image are not in the store of this server.');
        const from = Number(new URL(raw.url ?? '/', 'https://management').searchParams.get('from') ?? '0');
        if (!Number.isSafeInteger(from) || from < 0 || from > bytes)
          throw new Problem({ status: 416, code: 'invalid_range', detail: 'The start lies beyond the image.' });
        res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes - from });
        if (from === bytes) res.end();
        else await pipeline(this.files.read(sha256, from), res);
      },
    };
  }
}
