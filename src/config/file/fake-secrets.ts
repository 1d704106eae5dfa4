/**
 * Returns an environment in which every secret is set, for commands that need none: whoever looks into a config may not
 * know them. `onUnset` is told the names of those that `env` lacks.
 */
export function fakeSecrets(
  env: NodeJS.ProcessEnv = process.env,
  onUnset: (name: string) => void = () => {},
): NodeJS.ProcessEnv {
  const get = (_: unknown, name: string | symbol): string | undefined => {
    const real = env[String(name)];
    if (real !== undefined && real !== '') return real;
    onUnset(String(name));
    return `not-the-secret-but-as-long-as-one:${String(name)}`;
  };
  return new Proxy<NodeJS.ProcessEnv>({}, { get });
}
