import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { ChildTransport } from './child-transport.ts';
import { type LogLine, ProcessLog, spawnRingfence, writeConfig } from './ringfence-process.ts';
import { connectHttp, type HttpClientOptions, newClient, ToolClient } from './tool-client.ts';

export type ConfigKeys = Readonly<Record<string, unknown>>;

/** A server in a process of its own, whose config file can be written again. */
export class ReloadableServer implements AsyncDisposable {
  readonly config: string;
  readonly log: ProcessLog;
  readonly #child: ChildProcessWithoutNullStreams;
  #reloads = 0;

  constructor(config: ConfigKeys, { command = 'serve', env = {} }: { command?: string; env?: Record<string, string> }) {
    this.config = writeConfig(withAddress(config));
    this.#child = spawnRingfence([command, '--config', this.config], { env });
    if (command === 'serve') this.#child.stdout.resume();
    this.log = new ProcessLog(this.#child);
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  async url(): Promise<string> {
    return (await this.log.waitFor(({ msg }) => msg === 'listening')).url;
  }

  async connect(options: HttpClientOptions<'workspace'> = {}): Promise<ToolClient> {
    return connectHttp(await this.url(), options);
  }

  /** Connects to a server on stdio. */
  async connectStdio(client = newClient('legacy')): Promise<ToolClient> {
    await client.connect(new ChildTransport(this.#child));
    return new ToolClient('workspace', client);
  }

  /** Writes the config file, by a rename if asked to. */
  write(config: ConfigKeys | string, byRename = false): void {
    const text = typeof config === 'string' ? config : stringify(withAddress(config));
    if (!byRename) {
      fs.writeFileSync(this.config, text);
      return;
    }
    fs.writeFileSync(`${this.config}.new`, text);
    fs.renameSync(`${this.config}.new`, this.config);
  }

  hangUp(): void {
    this.#child.kill('SIGHUP');
  }

  /** Writes the config, sends SIGHUP and resolves with the line of the log that says what came of it. */
  async reload(config: ConfigKeys | string, byRename = false): Promise<LogLine> {
    this.write(config, byRename);
    this.hangUp();
    this.#reloads += 1;
    return this.nthReload(this.#reloads);
  }

  async nthReload(count: number): Promise<LogLine> {
    const isReload = ({ msg }: LogLine): boolean => msg === 'config reloaded' || msg === 'config not reloaded';
    await this.log.waitFor(() => this.log.lines().filter(isReload).length >= count);
    return this.log.lines().filter(isReload)[count - 1] as LogLine;
  }

  /** The descriptors that the process has open. */
  descriptors(): string[] {
    return fs.readdirSync(`/proc/${this.pid}/fd`).flatMap((fd) => {
      try {
        return [fs.readlinkSync(`/proc/${this.pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill(signal);
      await once(this.#child, 'close');
    }
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    fs.rmSync(path.dirname(this.config), { recursive: true, force: true });
  }
}

function withAddress(config: ConfigKeys): ConfigKeys {
  return { host: '127.0.0.1', port: 0, ...config };
}
