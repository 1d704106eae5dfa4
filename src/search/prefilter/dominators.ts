import { ASSERT, type Instruction, JUMP, MATCH, type Program, RUNES, SPLIT } from '../pattern/program.ts';

/**
 * Returns the RUNES instructions that every match executes, in order: the dominators of MATCH in the control-flow graph
 * of the program (https://en.wikipedia.org/wiki/Dominator_(graph_theory)).
 *
 * Only the dominators of one node are needed, so instead of building a dominator tree (Lengauer and Tarjan; Cooper,
 * Harvey and Kennedy) it walks along one path from the start to MATCH and keeps the nodes that no detour bypasses. This
 * takes linear time.
 */
export function dominators(program: Program): number[] {
  const path = somePath(program);
  const positions = new Map(path.map((instruction, i) => [instruction, i]));
  const seen = new Set<number>();
  const found: number[] = [];
  // The furthest position on the path that is reachable from positions before the current one without visiting the
  // current one.
  let furthest = 0;
  for (const [i, instruction] of path.entries()) {
    if (i === furthest && program.code[instruction]?.op === RUNES) found.push(instruction);
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
  return found;
}

/** Returns the instructions of one path from the start to MATCH, or none if MATCH cannot be reached. */
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
