import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { GRACE_MS } from '../../src/cli/start.ts';
import { readConfigFile } from '../../src/config/file/config-file.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const text = (file: string): string => fs.readFileSync(path.join(TOP, file), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: manifests are looked into by name
type Manifest = any;

const compose = parse(text('deploy/compose.yaml')) as Manifest;
const objects = ['ringfence', 'valkey'].flatMap((name) =>
  parseAllDocuments(text(`deploy/kubernetes/${name}.yaml`)).map((document): Manifest => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  }),
);
const object = (kind: string, name = 'ringfence'): Manifest => {
  const found = objects.filter((one) => one.kind === kind && one.metadata.name === name);
  expect(found, `${kind} ${name}`).toHaveLength(1);
  return found[0];
};
const pod = object('Deployment').spec.template;
const [container] = pod.spec.containers;
const config = parse(text('deploy/ringfence.yaml')) as Manifest;
const SECRETS = ['RINGFENCE_CLUSTER_SECRET', 'RINGFENCE_TOKEN'];
const envOf = ({ env = [] }: Manifest): Record<string, string> =>
  Object.fromEntries(env.map(({ name, value }: Manifest) => [name, value]));

/** Reads a config as a replica does, with the folder of its roots in a temporary one. */
async function load(yaml: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const dir = tempDir('ringfence-deploy-');
  const file = path.join(dir, 'config.yaml');
  fs.writeFileSync(file, yaml);
  const secrets = { RINGFENCE_CLUSTER_SECRET: 's'.repeat(32), RINGFENCE_TOKEN: 't'.repeat(32) };
  const variables = { ...env, ...secrets, RINGFENCE_DATA: dir };
  return readConfigFile(file, variables, variables);
}

describe('the config of replicas', () => {
  test('is accepted by the server, with the variables that Compose sets', async () => {
    const { environment } = compose.services.ringfence;
    await expect(load(text('deploy/ringfence.yaml'), environment)).resolves.toMatchObject({
      port: 8091,
      host: '0.0.0.0',
      cluster: { redis: expect.stringContaining('redis://valkey:6379') },
    });
    const named = [...text('deploy/ringfence.yaml').matchAll(/\$\{(\w+)\}|_env: (\w+)/g)].map(([, a, b]) => a ?? b);
    expect(named.sort()).toEqual(Object.keys(environment).sort());
  });

  test('is the same on Kubernetes, and is accepted with the variables that are set there', async () => {
    const written = object('ConfigMap').data['config.yaml'];
    expect(parse(written)).toEqual(config);
    await expect(load(written, envOf(container))).resolves.toMatchObject({
      cluster: { redis: expect.stringContaining('redis://ringfence-valkey:6379') },
    });
    const set = [...Object.keys(envOf(container)), ...SECRETS];
    expect(set.sort()).toEqual(Object.keys(compose.services.ringfence.environment).sort());
  });

  test('no secret stands in a file, and none would replace one that is there', () => {
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(text('deploy/env.example').match(/^\w+=.+$/m)).toBeNull();
    const example = [...text('deploy/env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(example).toEqual(SECRETS);
    const [command = ''] = /^kubectl create secret generic ringfence .*$/m.exec(text('deploy/README.md')) ?? [];
    expect([...command.matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name)).toEqual(SECRETS);
    expect(container.envFrom[0].secretRef.name).toBe('ringfence');
  });
});

describe('Compose', () => {
  test('has a balancer, three replicas, Valkey and a shared volume, which fit together', () => {
    const { balancer, ringfence, valkey } = compose.services;
    expect(ringfence.deploy.replicas).toBe(3);
    expect(text('deploy/haproxy.cfg')).toContain(`server-template replica 3 ringfence:${config.port}`);
    expect(text('deploy/nginx.conf')).toContain(`server ringfence:${config.port}`);
    expect(balancer.ports).toEqual(['127.0.0.1:8080:8080']);
    expect(text('deploy/haproxy.cfg')).toContain('bind :8080');
    const [file, mounted] = ringfence.volumes[0].split(':');
    expect(fs.existsSync(path.join(TOP, 'deploy', file))).toBe(true);
    expect(ringfence.command).toEqual(['serve', '--config', mounted]);
    const [volume, folder] = ringfence.volumes[1].split(':');
    expect(Object.keys(compose.volumes)).toEqual([volume]);
    expect(ringfence.environment.RINGFENCE_DATA).toBe(folder);
    expect(valkey.command.join(' ')).toContain('--maxmemory-policy noeviction');
    expect(text('Dockerfile')).toContain(`EXPOSE ${config.port}`);
  });
});

describe('Kubernetes', () => {
  test('every object that is named is there, and labels select what they mean to', () => {
    expect(object('Service').spec.selector).toEqual(pod.metadata.labels);
    expect(object('Deployment').spec.selector.matchLabels).toEqual(pod.metadata.labels);
    expect(object('PodDisruptionBudget').spec.selector.matchLabels).toEqual(pod.metadata.labels);
    const valkey = object('Deployment', 'ringfence-valkey').spec;
    expect(object('Service', 'ringfence-valkey').spec.selector).toEqual(valkey.template.metadata.labels);
    expect(object('NetworkPolicy', 'ringfence-valkey').spec.podSelector.matchLabels).toEqual(
      valkey.template.metadata.labels,
    );
    const [{ from }] = object('NetworkPolicy', 'ringfence-valkey').spec.ingress;
    expect(from[0].podSelector.matchLabels).toEqual(pod.metadata.labels);
    const volumes = Object.fromEntries(pod.spec.volumes.map((volume: Manifest) => [volume.name, volume]));
    object('ConfigMap', volumes.config.configMap.name);
    expect(object('PersistentVolumeClaim', volumes.files.persistentVolumeClaim.claimName).spec.accessModes).toEqual([
      'ReadWriteMany',
    ]);
    for (const { name } of container.volumeMounts) expect(volumes).toHaveProperty(name);
    expect(new URL(envOf(container).RINGFENCE_REDIS ?? '').hostname).toBe('ringfence-valkey');
  });

  test('ports, paths and the image are those of the server', () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: config.port }]);
    expect(object('Service').spec.ports[0].targetPort).toBe('http');
    expect(container.readinessProbe.httpGet).toEqual({ path: '/ready', port: 'http' });
    for (const probe of ['livenessProbe', 'startupProbe']) {
      expect(container[probe].httpGet).toEqual({ path: '/health', port: 'http' });
    }
    const { version } = JSON.parse(text('package.json'));
    expect(container.image).toBe(`ringfence:${version}`);
    expect(text('deploy/README.md')).toContain(`docker tag ${compose.services.ringfence.image} ${container.image}`);
    const mounted = Object.fromEntries(container.volumeMounts.map((mount: Manifest) => [mount.name, mount.mountPath]));
    expect(container.args).toEqual(['serve', '--config', `${mounted.config}/config.yaml`]);
    expect(envOf(container).RINGFENCE_DATA).toBe(mounted.files);
  });

  test('a replica has time to drain, and enough of them stay', () => {
    const graceSeconds = GRACE_MS / 1000;
    const [, seconds] = container.lifecycle.preStop.exec.command;
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + graceSeconds + 5);
    expect(Number.parseInt(compose.services.ringfence.stop_grace_period, 10)).toBeGreaterThan(graceSeconds + 2);
    const { replicas, strategy } = object('Deployment').spec;
    expect(object('PodDisruptionBudget').spec.minAvailable).toBe(replicas - 1);
    expect(strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  });

  test('nothing runs as root or may gain rights', () => {
    for (const { spec } of objects.filter(({ kind }) => kind === 'Deployment')) {
      const { securityContext, containers, automountServiceAccountToken } = spec.template.spec;
      expect(automountServiceAccountToken).toBe(false);
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });
});
