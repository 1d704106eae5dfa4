/** Opens connections to stdio servers, hands them to `work`, and ends the servers whatever happens. */
export async function withServers(clients, work) {
  try {
    await Promise.all(Object.values(clients).map((client) => client.initialize()));
    return await work(clients);
  } finally {
    await Promise.all(Object.values(clients).map((client) => client.close()));
  }
}
