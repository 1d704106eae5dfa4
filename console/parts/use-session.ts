import { createContext } from 'preact';
import { useContext, useLayoutEffect, useReducer } from 'preact/hooks';
import { Session, type Topic } from '../data/session.ts';

export const SessionContext = createContext(new Session());

/** Returns the session, and renders the component again when one of the topics changes. */
export function useSession(...topics: readonly Topic[]): Session {
  const session = useContext(SessionContext);
  const [, render] = useReducer((count: number) => count + 1, 0);
  const key = topics.join(' ');
  // Not useEffect, which runs after the next frame: an answer that comes before it would not be shown.
  useLayoutEffect(() => session.subscribe((topic) => key.split(' ').includes(topic) && render(null)), [session, key]);
  return session;
}
