// What the suite reports although nothing is wrong here, each with the reason. A run fails on anything else, and on an entry that no
// longer occurs.

/** By suite, and by scenario and check. */
export const EXPECTED = {
  '0.1.16': {
    'server-sse-polling server-sse-priming-event':
      'the scenario sends MCP-Protocol-Version: 2025-03-26, whose clients cannot read an event without data',
    'server-sse-polling server-sse-retry-field': 'the same: the time to wait comes with that event',
  },
  '0.2.0-alpha.12': {
    'server-stateless sep-2575-server-sends-prompts-list-changed-on-subscription':
      'prompts never change while the server runs, and listChanged is not declared',
    'server-stateless sep-2575-server-sends-tools-list-changed-on-subscription':
      'tools never change while the server runs, and listChanged is not declared',
  },
};

/** The scenarios that need no fixtures, which the real server has to pass. */
export const WITHOUT_FIXTURES = new Set([
  'server-initialize',
  'server-session-lifecycle',
  'ping',
  'tools-list',
  'resources-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
  'sep-2164-resource-not-found',
  'http-header-validation',
  'input-required-result-unsupported-methods',
]);
