import { render } from 'preact';
import { App } from './app.tsx';
import { Session } from './data/session.ts';
import { SessionContext } from './parts/use-session.ts';
import { applyStoredTheme } from './parts/use-theme.ts';

applyStoredTheme();
const session = new Session();
const app = document.getElementById('app');
if (app !== null) {
  render(
    <SessionContext.Provider value={session}>
      <App />
    </SessionContext.Provider>,
    app,
  );
}
void session.start();
