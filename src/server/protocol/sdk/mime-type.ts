const BY_EXTENSION: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  c: 'text/x-c',
  cpp: 'text/x-c++',
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  go: 'text/x-go',
  gz: 'application/gzip',
  htm: 'text/html',
  html: 'text/html',
  ico: 'image/x-icon',
  java: 'text/x-java',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/jsonl',
  log: 'text/plain',
  md: 'text/markdown',
  mjs: 'text/javascript',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  rs: 'text/x-rust',
  sh: 'application/x-sh',
  sql: 'application/sql',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  toml: 'application/toml',
  ts: 'text/x-typescript',
  tsx: 'text/x-typescript',
  txt: 'text/plain',
  wav: 'audio/wav',
  wasm: 'application/wasm',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** Returns the media type of a file by the extension of its name; for an unknown one, that of any text or any bytes. */
export function mimeType(path: string, isText: boolean): string {
  return knownMimeType(path) ?? (isText ? 'text/plain' : 'application/octet-stream');
}

/** Returns the media type of a file by the extension of its name; undefined for an unknown one. */
export function knownMimeType(path: string): string | undefined {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
}
