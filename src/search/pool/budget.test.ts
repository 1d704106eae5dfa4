import { expect, test } from 'vitest';
import { Budget } from './budget.ts';
import { StealRequest } from './shared-flags.ts';

test('a budget is spent by work alone, without a steal request', () => {
  const call = new StealRequest();
  const budget = new Budget(5_000, call);
  budget.spend(4_999);
  expect(budget.isSpent()).toBe(false);
  budget.spend(1);
  expect(budget.isSpent()).toBe(true);
});

test('a steal request ends a budget, but not before a minimum of work is done', () => {
  const call = new StealRequest();
  const budget = new Budget(5_000, call);
  call.post(true);
  budget.spend(500);
  expect(budget.isSpent()).toBe(false);
  budget.spend(500);
  expect([budget.isSpent(), budget.isSpent()]).toEqual([true, true]);
});

test('exactly one worker claims a steal request, and none after it is withdrawn', () => {
  const here = new StealRequest();
  const budgets = Array.from({ length: 3 }, () => new Budget(5_000, new StealRequest(here.shared)));
  for (const budget of budgets) budget.spend(2_000);
  here.post(true);
  expect(budgets.map((budget) => budget.isSpent())).toEqual([true, false, false]);
  here.post(true);
  expect(budgets.map((budget) => budget.isSpent())).toEqual([true, true, false]);
  here.post(true);
  here.post(false);
  expect(budgets.map((budget) => budget.isSpent())).toEqual([true, true, false]);
});

test('steps that take longer than estimated let other searches run, too', () => {
  const budget = new Budget(5_000, new StealRequest());
  const step = (): boolean => {
    for (const end = performance.now() + 1; performance.now() < end; );
    return budget.shouldYield();
  };
  expect(Array.from({ length: 32 }, step).filter(Boolean).length).toBeGreaterThanOrEqual(3);
});
