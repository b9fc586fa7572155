import { useState } from 'preact/hooks';
import { call, Failure } from '../call';
import { asFailure } from '../load';
import { Button } from '../part/button';
import { Input } from '../part/field';
import { Wrong } from '../part/wrong';
import type { Session } from '../types';

export function SignIn({ ended, taken }: { ended: boolean; taken: (s: Session) => void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [busy, work] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const enter = async () => {
    work(true);
    fail(undefined);
    try {
      const session = await call<Session>('POST', 'session', { body: { name, password } });
      await kept();
      taken(session);
    } catch (problem) {
      fail(asFailure(problem));
      setPassword('');
    } finally {
      work(false);
    }
  };
  return (
    <main class="alone">
      <h1>pingpost</h1>
      {ended && (
        <p class="note warn" role="status">
          Your session has ended. Sign in again to go on where you were.
        </p>
      )}
      <form
        class="card"
        onSubmit={(e) => {
          e.preventDefault();
          void enter();
        }}
      >
        <h2>Sign in</h2>
        <Input label="Name" value={name} set={setName} auto="username" required />
        <Input label="Password" type="password" value={password} set={setPassword} auto="current-password" required />
        <Wrong failure={failure} />
        <Button type="submit" tone="main" disabled={busy || name === '' || password === ''} busy={busy}>
          Sign in
        </Button>
        <p class="help">
          A user is made by an administrator. On an exchange without users, the password is <code>admin.password</code>{' '}
          of its configuration, with any name.
        </p>
      </form>
    </main>
  );
}

// kept reports whether the browser stored the session cookie. Browsers drop it if the page
// came over plain HTTP from another machine.
async function kept(): Promise<void> {
  try {
    await call('GET', 'session');
  } catch (problem) {
    if (problem instanceof Failure && problem.status === 401) {
      throw new Failure(
        401,
        'unauthorized',
        'The password is right, but the browser did not keep the session. Open this page by https, or on the machine itself.',
      );
    }
    throw problem;
  }
}
