import { bestOf } from '../best-of.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { withServers } from '../with-servers.js';

const PAGE_LINES = 1_000;
const DEEP = 1_000;

/**
 * A page deep in a log, asked for right after the first page, by a server that has not seen the file before. It is
 * compared with the first page as it was asked for at first, and with the first page once more.
 */
export async function page({ data, rounds, config }) {
  const { folder, file, bytes, lines } = data.log();
  const deep = Math.min(DEEP, Math.floor(lines / PAGE_LINES));
  const settings = config(folder);
  const best = { deep: Number.POSITIVE_INFINITY, again: Number.POSITIVE_INFINITY };
  let agrees = true;
  const round = () =>
    withServers({ ours: ringfenceOnStdio(settings) }, async ({ ours }) => {
      const get = async (number) => {
        const first = (number - 1) * PAGE_LINES + 1;
        const range = { offset_lines: first, limit_lines: PAGE_LINES };
        const { ms, result } = await ours.call('read_file', { root: ROOT, path: file, ...range });
        agrees &&= isPage(result.structuredContent.content, first);
        return ms;
      };
      const first = await get(1);
      best.deep = Math.min(best.deep, await get(deep));
      best.again = Math.min(best.again, await get(1));
      return first;
    });
  const { first } = await bestOf(rounds, { first: round });
  const work = `page ${deep.toLocaleString('en')} of a ${Math.round(bytes / 1e6)} MB log, after page 1`;
  return [
    { work, against: 'page 1, first time', ours: best.deep, theirs: first, target: 2, agrees },
    { work, against: 'page 1, again', ours: best.deep, theirs: best.again, target: 2, agrees },
  ];
}

/** Every line of the log says its own number. */
function isPage(content, first) {
  const numbers = [...content.matchAll(/^\S+Z line=(\d+) /gm)].map(([, number]) => Number(number));
  return numbers.length === PAGE_LINES && numbers.every((number, index) => number === first + index);
}
