import type { Command } from 'commander';

/** The shells that there is a completion script for. */
export const SHELLS: readonly string[] = ['bash', 'zsh', 'fish'];

interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly { readonly long: string; readonly description: string }[];
  readonly choices: readonly string[];
}

/** Returns the completion script of a shell for the commands of a program. */
export function completionScript(program: Command, shell: string): string {
  const commands = program.commands.map((command): Completed => {
    const options = command.options.flatMap(({ long, description }) => (long ? [{ long, description }] : []));
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    const all = [...options, { long: '--help', description: 'display help for command' }];
    return { name: command.name(), summary: command.summary() || command.description(), options: all, choices };
  });
  return shell === 'bash' ? bash(commands) : shell === 'zsh' ? zsh(commands) : fish(commands);
}

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, options, choices }) =>
      `    ${name}) options="${options.map(({ long }) => long).join(' ')}"; words="${choices.join(' ')}" ;;`,
  );
  return `# bash completion for ringfence
_ringfence() {
  local current="\${COMP_WORDS[COMP_CWORD]}" options= words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')} --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}
complete -o default -F _ringfence ringfence
`;
}

function zsh(commands: readonly Completed[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const described = (name: string, text: string): string => quote(`${name.replaceAll(':', '\\:')}:${text}`);
  const cases = commands.map(({ name, options, choices }) => {
    const shown = options.map(({ long, description }) => described(long, description)).join(' ');
    return `    ${name}) options=(${shown}); values=(${choices.join(' ')}) ;;`;
  });
  return `#compdef ringfence
_ringfence() {
  local name="\${words[2]}"
  local -a commands options values
  commands=(${commands.map(({ name, summary }) => described(name, summary)).join(' ')})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$name" in
${cases.join('\n')}
  esac
  if [[ "$PREFIX" == -* ]]; then
    _describe option options
  elif (( CURRENT == 3 && $#values )); then
    compadd -a values
  else
    _files
  fi
}
compdef _ringfence ringfence
`;
}

function fish(commands: readonly Completed[]): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ name, summary, options, choices }) => [
    `complete -c ringfence -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`,
    ...options.map(
      ({ long, description }) =>
        `complete -c ringfence -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)} -d ${quote(description)}`,
    ),
    ...(choices.length > 0
      ? [`complete -c ringfence -n '__fish_seen_subcommand_from ${name}' -f -a ${quote(choices.join(' '))}`]
      : []),
  ]);
  return `# fish completion for ringfence\n${lines.join('\n')}\n`;
}
