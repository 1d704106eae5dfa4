import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useSession } from '../parts/use-session.ts';

/** Asks for a token. The server answers with a cookie that scripts cannot read; the token itself is not kept. */
export function SignIn() {
  const session = useSession();
  const [problem, setProblem] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const signIn = async (form: HTMLFormElement) => {
    const field = form.elements.namedItem('token') as HTMLInputElement;
    const token = field.value.trim();
    if (token === '') {
      setProblem('Enter a token.');
      field.focus();
      return;
    }
    setIsBusy(true);
    setProblem('');
    try {
      await api.signIn(token);
      field.value = '';
      await session.start();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setIsBusy(false);
      field.select();
    }
  };
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void signIn(event.currentTarget);
        }}
      >
        <img src="/console/icon.svg" alt="" width="44" height="44" />
        <h1>Sign in to the console</h1>
        <p class="faint">
          Use a token that has <code>console: true</code> in the configuration of the server.
        </p>
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          autofocus
          spellcheck={false}
          aria-invalid={problem !== ''}
          aria-describedby="sign-in-problem"
        />
        <p id="sign-in-problem" class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
