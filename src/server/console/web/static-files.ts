import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type ConsoleFile, consoleFile } from '../../../config/program/package-files.ts';

interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

const TYPES: Readonly<Record<ConsoleFile, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

/** The files of the page, in memory: a path that is not in this list is not looked for anywhere. */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  /** Reads the files. Raises a system error if the package was not built. */
  constructor() {
    const files = Object.entries(TYPES).map(([name, type]): [string, StaticFile] => {
      const bytes = consoleFile(name as ConsoleFile);
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      return [`/${name}`, { type, bytes, zipped: gzipSync(bytes, { level: 9 }), etag }];
    });
    this.#files = new Map(files);
  }

  /** Answers a request for a path below that of the console, and reports whether there is such a file. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    const file = this.#files.get(path === '' || path === '/' ? '/index.html' : path);
    if (file === undefined) return false;
    const { type, bytes, zipped, etag } = file;
    const takesGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\b)/i.test(String(request.headers['accept-encoding'] ?? ''));
    const shown = takesGzip ? zipped : bytes;
    // Asked for again each time, which costs nothing if the file is the same, so that an update is seen at once.
    const headers = {
      'cache-control': 'no-cache',
      etag: takesGzip ? etag.replace(/"$/, '-gz"') : etag,
      vary: 'accept-encoding',
    };
    if (request.headers['if-none-match'] === headers.etag) {
      response.writeHead(304, headers).end();
      return true;
    }
    response.writeHead(200, {
      ...headers,
      'content-type': type,
      'content-length': shown.length,
      ...(takesGzip && { 'content-encoding': 'gzip' }),
    });
    response.end(request.method === 'HEAD' ? undefined : shown);
    return true;
  }
}
