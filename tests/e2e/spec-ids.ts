function numbered(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${String(index + 1).padStart(3, '0')}`);
}

/** Every requirement and test of the workspace dialect's specification. */
export const SPEC_IDS: readonly string[] = [...numbered('FR', 19), ...numbered('NFR', 25), ...numbered('E2E', 84)];

/** The titles of the scenarios of each specification that has them. */
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  'filesystem-interaction': [
    'List directory contents',
    'Recursive directory listing',
    'Directory listing with filters',
    'Read file content',
    'Read file with encoding',
    'Read binary file',
    'Allowed path access',
    'Disallowed path access',
    'Path traversal prevention',
    'Symbolic link validation',
    'Default allowed paths',
    'Project-specific allowed paths',
    'Path normalization',
    'Cache file content',
    'Cache hit',
    'Cache miss',
    'Cache invalidation by modification time',
    'Cache size management',
    'File not found',
    'Permission denied',
    'Sampling request timeout',
    'Unsupported client fallback',
    'Operation audit log',
    'Security violation logging',
    'guide_cache_file tool',
    'Batch file caching',
  ],
  'filesystem-tools': [
    'Cache single file',
    'Cache with metadata',
    'Security policy violation',
    'Overwrite existing cache entry',
    'Cache size limit exceeded',
    'List directory contents',
    'Include file metadata',
    'Recursive listing',
    'Filter by pattern',
    'Read text file',
    'Read binary file',
    'File encoding specification',
    'Large file handling',
    'Required arguments validation',
    'Type validation',
    'Path format validation',
    'Success result with data',
    'Failure result with error',
    'Partial success with warnings',
    'Tool description generation',
    'Argument schema documentation',
    'Usage examples',
    'Path validation on every call',
    'Audit logging for all operations',
    'Rate limiting consideration',
    'Cache synchronization',
    'Security policy consistency',
    'Error handling consistency',
  ],
};

/** Every scenario, as a test cites it: `filesystem-tools/Cache single file`. */
export const SCENARIO_IDS: readonly string[] = Object.entries(SCENARIOS).flatMap(([specification, titles]) =>
  titles.map((title) => `${specification}/${title}`),
);
