import { expect, test } from 'vitest';
import { StealRequest } from '../walk/steal-request.ts';
import { Budget } from './budget.ts';

test('a budget is over when it is spent, whether or not somebody calls for work', () => {
  const call = new StealRequest();
  const budget = new Budget(5_000, call);
  budget.spend(4_999);
  expect(budget.isSpent).toBe(false);
  budget.spend(1);
  expect(budget.isSpent).toBe(true);
});

test('a call for work ends a budget, and stays unheard until some work was done', () => {
  const call = new StealRequest();
  const budget = new Budget(5_000, call);
  call.post(true);
  budget.spend(500);
  expect(budget.isSpent).toBe(false);
  budget.spend(500);
  expect([budget.isSpent, budget.isSpent]).toEqual([true, true]);
});

test('one of several answers a call, and nobody when it is over', () => {
  const here = new StealRequest();
  const budgets = Array.from({ length: 3 }, () => new Budget(5_000, new StealRequest(here.shared)));
  for (const budget of budgets) budget.spend(2_000);
  here.post(true);
  expect(budgets.map(({ isSpent }) => isSpent)).toEqual([true, false, false]);
  here.post(true);
  expect(budgets.map(({ isSpent }) => isSpent)).toEqual([true, true, false]);
  here.post(true);
  here.post(false);
  expect(budgets.map(({ isSpent }) => isSpent)).toEqual([true, true, false]);
});
