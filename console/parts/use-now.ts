import { useEffect, useState } from 'preact/hooks';

/** The current time in milliseconds, which renders the component again every `interval` milliseconds. */
export function useNow(interval: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), interval);
    return () => clearInterval(timer);
  }, [interval]);
  return now;
}
