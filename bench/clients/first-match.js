const PATIENCE_MS = 15_000;

/** The first group of a pattern in what a program prints. Rejects if it ends, or takes too long, before it printed that. */
export function firstMatch(child, pattern) {
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`the server ${why} before it said where it listens`));
    const timer = setTimeout(() => fail('took too long'), PATIENCE_MS);
    let printed = '';
    child.once('exit', () => fail('ended'));
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const found = pattern.exec(printed);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
  });
}
