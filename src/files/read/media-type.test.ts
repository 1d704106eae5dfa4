import { describe, expect, test } from 'vitest';
import { mediaTypeOf } from './media-type.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('the media type of a file', () => {
  test.each([
    ['image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
    ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF'],
    ['image/gif', 'GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\0;'],
    ['image/gif', 'GIF87a\x01\0\x80'],
    ['image/webp', 'RIFF\n\0\0\nWEBPVP8 '],
    ['audio/wav', 'RIFF\x24\0\0\0WAVEfmt '],
    ['audio/flac', 'fLaC\0\0\0"'],
    ['audio/ogg', `OggS\0\x02${'\0'.repeat(22)}\x01vorbis`],
    ['audio/mpeg', 'ID3\x04\0\0\0\0\x01\x7f'],
    ['audio/mpeg', '\xff\xfb\x90\x64\0'],
  ])('%s is known by its first bytes', (type, content) => {
    expect(mediaTypeOf(latin1(content))).toBe(type);
  });

  test.each([
    'GIF89a is the name of a format',
    'RIFF with WEBP in it',
    'ID3 tags',
    'fLaC',
    '',
    '\x89PNG',
    'RIFF\x24\0\0\0AVI fmt ',
    `OggS\0\x02${'\0'.repeat(22)}\x80theora`,
    // UTF-16 with a byte order mark, and a frame header with an invalid bit rate.
    '\xff\xfea\0b\0',
    '\xff\xfb\xf0\0',
    '\0\x01\x02',
  ])('%j is none', (content) => {
    expect(mediaTypeOf(latin1(content))).toBeUndefined();
  });
});
