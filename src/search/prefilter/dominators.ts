import { ASSERT, type Instruction, JUMP, MATCH, type Program, RUNES, SPLIT } from '../pattern/program.ts';

/** Characters that every match takes at least once, in this order: without any of them the end cannot be reached. */
export function dominators(program: Program): number[] {
  const path = somePath(program);
  const positions = new Map(path.map((instruction, i) => [instruction, i]));
  const seen = new Set<number>();
  const cuts: number[] = [];
  // The furthest position on the path that can be reached from before the current one without stepping on it.
  let furthest = 0;
  for (const [i, instruction] of path.entries()) {
    if (i === furthest && program.code[instruction]?.op === RUNES) cuts.push(instruction);
    const todo = [instruction];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      for (const next of successors(program, at)) {
        const position = positions.get(next);
        if (position !== undefined) furthest = Math.max(furthest, position);
        else if (!seen.has(next)) {
          seen.add(next);
          todo.push(next);
        }
      }
    }
  }
  return cuts;
}

/** Instructions from the start to the end, or none where the end cannot be reached. */
function somePath(program: Program): number[] {
  const cameFrom = new Map<number, number>([[program.start, program.start]]);
  const todo = [program.start];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    if (program.code[at]?.op === MATCH) return trace(cameFrom, program.start, at);
    for (const next of successors(program, at)) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      todo.push(next);
    }
  }
  return [];
}

function trace(cameFrom: ReadonlyMap<number, number>, start: number, end: number): number[] {
  const path = [end];
  for (let at = end; at !== start; ) {
    at = cameFrom.get(at) as number;
    path.push(at);
  }
  return path.reverse();
}

function successors({ code }: Program, at: number): number[] {
  const { op, next, other } = code[at] as Instruction;
  if (op === SPLIT) return [next, other];
  return op === JUMP || op === ASSERT || op === RUNES ? [next] : [];
}
