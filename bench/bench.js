import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { benchData } from './data.js';
import { GROUPS } from './groups/index.js';
import { writeConfig } from './peers/ringfence.js';

/** Runs groups one after another on data of one scale. Leaves nothing behind but the cached data. */
export async function bench({ scale, groups = Object.keys(GROUPS), onGroup = () => {} }) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-bench-run-'));
  const clean = () => fs.rmSync(scratch, { recursive: true, force: true });
  process.once('exit', clean);
  const data = benchData(scale);
  let configs = 0;
  const curves = [];
  const loads = [];
  const context = {
    data,
    scratch,
    rounds: scale.rounds,
    iterations: scale.iterations,
    /** How cost grows with size: `{ name, of, against, points: [{ size, ours, theirs }] }`, in milliseconds. */
    addCurve: (curve) => curves.push(curve),
    /** What so many clients at once get: `{ era, clients, ours, theirs }`. */
    addLoad: (load) => loads.push(load),
    /** How often to repeat, scaled, at least a few times. */
    times: (count) => Math.max(3, Math.round(count * scale.iterations)),
    config: (folder, settings, root) =>
      writeConfig(path.join(scratch, `config-${configs++}.yaml`), folder, settings, root),
  };
  try {
    const rows = [];
    for (const group of groups) {
      const added = (await GROUPS[group](context)).map((row) => judged(group, row));
      rows.push(...added);
      onGroup(added);
    }
    return { rows, curves, loads, data: data.facts() };
  } finally {
    process.off('exit', clean);
    clean();
  }
}

function judged(group, row) {
  const { work, against, ours, theirs, unit = 'ms', target, agrees, note } = row;
  const ratio = ours / theirs;
  const met = target === undefined ? undefined : agrees && ratio <= target;
  return { group, work, against, unit, ours, theirs, ratio, target, met, agrees, note };
}
