import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { injectable } from 'inversify';

/**
 * The nearest folder upwards with a package.json: the checkout's or the installation's root, from source and compiled
 * alike.
 */
const packageRoot = (from: string): string =>
  existsSync(join(from, 'package.json')) || dirname(from) === from ? from : packageRoot(dirname(from));

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

/** The built console below `/console/`. */
@injectable()
export class ConsoleAssets {
  /** Folder of the build; by default `web/dist`. */
  readonly directory: string = join(packageRoot(__dirname), 'web/dist');

  /**
   * Files as built; every other path without a file extension is the application itself, which routes in the browser.
   */
  handlers(): RequestHandler[] {
    const files = express.static(this.directory, {
      index: 'index.html',
      redirect: false,
      dotfiles: 'ignore',
      setHeaders: (res, path) => {
        // The build names what is below assets/ by content.
        const hashed = path.startsWith(join(this.directory, 'assets/'));
        res.setHeader('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
    return [
      (req, res, next) => this.precompressed(req, res, next),
      files,
      (req, res, next) => this.application(req, res, next),
    ];
  }

  private readonly precompressed: RequestHandler = (req, res, next) => {
    const type = types[extname(req.path)];
    // Decoded names may not leave the folder; the static handler checks that again for what it serves.
    if (
      (req.method !== 'GET' && req.method !== 'HEAD') ||
      !type ||
      !/^\/[A-Za-z0-9_./-]+$/.test(req.path) ||
      req.path.includes('..')
    )
      return next();
    res.vary('accept-encoding');
    const accepted = encodings.find(
      ({ name, suffix }) => req.acceptsEncodings(name) && existsSync(join(this.directory, `${req.path}${suffix}`)),
    );
    if (accepted) {
      req.url = `${req.path}${accepted.suffix}`;
      res.setHeader('content-encoding', accepted.name);
      res.setHeader('content-type', type);
    }
    next();
  };

  private readonly application: RequestHandler = (req, res, next) => {
    const index = join(this.directory, 'index.html');
    if ((req.method !== 'GET' && req.method !== 'HEAD') || extname(req.path) !== '' || !existsSync(index))
      return next();
    res.setHeader('cache-control', 'no-cache');
    res.sendFile(index, (error) => (error ? next(error) : undefined));
  };
}
