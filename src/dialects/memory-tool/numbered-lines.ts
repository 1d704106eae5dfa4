export { numberedLines } from '../../tools/numbered-lines.ts';
