import { Balancer } from './balancer.ts';

/** The header in which the balancer says which server a request went to, also one that got no answer. */
export const SERVED_BY = 'x-served-by';

/**
 * Starts an HAProxy before servers of loopback, which get the requests in turn, whatever session they belong to. It names
 * them by their places in the list.
 */
export function startStormBalancer(port: number, servers: readonly number[]): Promise<Balancer> {
  return Balancer.start({ program: 'haproxy', port, config: configOf(port, servers) });
}

/**
 * A request that could not be sent is sent to another server. One that got no answer is not: it may have been served. So
 * connections to servers are not used again, on which a request may meet a server that has just gone.
 */
function configOf(port: number, servers: readonly number[]): string {
  return `global
  maxconn 2000
  hard-stop-after 60s
defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server 120s
  timeout check 5s
  option redispatch 1
  option http-server-close
  option idle-close-on-response
  retries 3
  retry-on conn-failure
frontend clients
  bind 127.0.0.1:${port}
  http-after-response set-header ${SERVED_BY} %s
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /ready
  default-server inter 1s fall 3 rise 1
${servers.map((server, index) => `  server ${index} 127.0.0.1:${server} check`).join('\n')}
`;
}
