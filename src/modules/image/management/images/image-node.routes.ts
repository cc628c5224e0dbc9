import { pipeline } from 'node:stream/promises';
import { injectable } from 'inversify';
import { Database } from '../../../../core/db/database';
import { conflict, notFound, Problem } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { NodeRoutes, type NodeRoute } from '../../../../core/m2m/management/node-route';
import { Images } from '../../contract/image.ports';
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

  /** `?from=N` continues at byte N. The answer has exactly the bytes from there to the image's end. */
  override nodeRoutes(): NodeRoute[] {
    return [
      {
        method: 'GET',
        path: '/images/:id/content',
        handle: async ({ params, raw, res }) => {
          const id = params['id'] ?? '';
          const image = looksLikeId(id) ? await this.images.byId(this.database.op, id.toLowerCase()) : null;
          if (!image) throw notFound('image', id);
          if ((await this.files.size(image.sha256)) !== image.virtualBytes)
            throw conflict('image_bytes_missing', 'The bytes of this image are not in the store of this server.');
          const from = Number(new URL(raw.url ?? '/', 'https://management').searchParams.get('from') ?? '0');
          if (!Number.isSafeInteger(from) || from < 0 || from > image.virtualBytes)
            throw new Problem({ status: 416, code: 'invalid_range', detail: 'The start lies beyond the image.' });
          res.writeHead(200, {
            'content-type': 'application/octet-stream',
            'content-length': image.virtualBytes - from,
          });
          if (from === image.virtualBytes) res.end();
          else await pipeline(this.files.read(image.sha256, from), res);
        },
      },
    ];
  }
}
