import fs from 'node:fs';
import { expect, test } from 'vitest';
import { replicasTable, tables, volumesTable } from './simulate-shards.js';

test('the tables of docs/scale.md are what the simulation prints', () => {
  const page = fs.readFileSync(new URL('../docs/scale.md', import.meta.url), 'utf8');
  const { volumes, replicas } = tables();
  expect(page).toContain(volumes);
  expect(page).toContain(replicas);
});

test('rendezvous hashing moves as many tenants as have to move, the remainder nearly all', () => {
  for (const { volumes, way, moved } of volumesTable([8, 20])) {
    const fair = 1 / (volumes + 1);
    if (way === 'rendezvous') expect(moved / fair).toBeCloseTo(1, 0);
    if (way.startsWith('remainder')) expect(moved).toBeGreaterThan(0.8);
    if (way.startsWith('two choices')) expect(moved).toBe(0);
  }
});

test('three replicas a tenant are evener than one', () => {
  for (const { hashed, shuffled } of replicasTable([9, 30])) expect(shuffled).toBeLessThan(hashed);
});
