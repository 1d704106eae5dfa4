function numbered(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${String(index + 1).padStart(3, '0')}`);
}

/** Every requirement and test of the workspace dialect's specification. */
export const SPEC_IDS: readonly string[] = [...numbered('FR', 19), ...numbered('NFR', 25), ...numbered('E2E', 84)];
