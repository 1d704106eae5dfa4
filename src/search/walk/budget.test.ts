import { expect, test } from 'vitest';
import { Budget } from './budget.ts';
import { CallForWork } from './steal-request.ts';

test('a budget is over when it is spent, whether or not somebody calls for work', () => {
  const call = new CallForWork();
  const budget = new Budget(5_000, call);
  budget.spend(4_999);
  expect(budget.spent).toBe(false);
  budget.spend(1);
  expect(budget.spent).toBe(true);
});

test('a call for work ends a budget, and stays unheard until some work was done', () => {
  const call = new CallForWork();
  const budget = new Budget(5_000, call);
  call.set(true);
  budget.spend(500);
  expect(budget.spent).toBe(false);
  budget.spend(500);
  expect([budget.spent, budget.spent]).toEqual([true, true]);
});

test('one of several answers a call, and nobody when it is over', () => {
  const here = new CallForWork();
  const budgets = Array.from({ length: 3 }, () => new Budget(5_000, new CallForWork(here.shared)));
  for (const budget of budgets) budget.spend(2_000);
  here.set(true);
  expect(budgets.map(({ spent }) => spent)).toEqual([true, false, false]);
  here.set(true);
  expect(budgets.map(({ spent }) => spent)).toEqual([true, true, false]);
  here.set(true);
  here.set(false);
  expect(budgets.map(({ spent }) => spent)).toEqual([true, true, false]);
});
