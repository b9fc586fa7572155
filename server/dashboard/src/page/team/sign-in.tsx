import { useState } from 'preact/hooks';
import { call, type Failure } from '../../call';
import { asFailure, useLoad } from '../../load';
import { Button } from '../../part/button';
import { Input } from '../../part/field';
import { Wrong } from '../../part/wrong';
import { parse } from '../../route';
import type { SignInMethods } from '../../team';
import type { Session } from '../../types';
import { checkCookie } from './cookie';
import { CodeInput } from './second-factor';

// refusals says why a sign-in at the identity provider ended on this page.
const refusals: { [reason: string]: string } = {
  unreachable: 'The identity provider cannot be reached. Try again later, or sign in with a password.',
  denied: 'The identity provider refused the sign-in.',
  no_role: 'You have no role at this exchange. Ask an administrator to give you one at the identity provider.',
  invalid: 'The sign-in was not valid, or took longer than ten minutes. Start it again.',
};

function refusal(): string {
  const { path, query } = parse(location.hash);
  if (path[0] !== 'sign-in' || !query.oidc) return '';
  return refusals[query.oidc] ?? 'The sign-in at the identity provider failed.';
}

export function SignIn({ ended, taken }: { ended: boolean; taken: (s: Session) => void }) {
  const methods = useLoad<SignInMethods>('session/methods').data;
  const refused = refusal();
  return (
    <main class="alone">
      <h1>pingpost</h1>
      {ended && (
        <p class="note warn" role="status">
          Your session has ended. Sign in again to continue.
        </p>
      )}
      {refused && (
        <p class="note bad" role="alert">
          {refused}
        </p>
      )}
      {methods?.oidc && <Provider of={methods.oidc} />}
      {methods?.password !== false && <PasswordForm taken={taken} />}
    </main>
  );
}

function Provider({ of }: { of: NonNullable<SignInMethods['oidc']> }) {
  return (
    <section class="card" aria-label={of.label}>
      {of.available ? (
        <a class="button main" href={of.start}>
          Sign in with {of.label}
        </a>
      ) : (
        <p class="note warn">{of.label} cannot be reached.</p>
      )}
    </section>
  );
}

function PasswordForm({ taken }: { taken: (s: Session) => void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [needsCode, need] = useState(false);
  const [code, setCode] = useState('');
  const [busy, work] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const enter = async () => {
    work(true);
    fail(undefined);
    try {
      const body = { name, password, ...(needsCode && { code: code.trim() }) };
      const session = await call<Session>('POST', 'session', { body });
      await checkCookie();
      taken(session);
    } catch (problem) {
      const why = asFailure(problem);
      if (why.code === 'second_factor_required') {
        if (needsCode) fail(why); // the first answer only asks for the code
        need(true);
        setCode('');
      } else {
        fail(why);
        need(false);
        setCode('');
        setPassword('');
      }
    } finally {
      work(false);
    }
  };
  return (
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
      {needsCode && (
        <>
          <p role="status">This account has a second factor.</p>
          <CodeInput value={code} set={setCode} help="of your authenticator app, or a recovery code" />
        </>
      )}
      <Wrong failure={failure} />
      <Button
        type="submit"
        tone="main"
        disabled={busy || name === '' || password === '' || (needsCode && code === '')}
        busy={busy}
      >
        Sign in
      </Button>
      <p class="help">
        An administrator invites users. On an exchange without users, sign in with any name and the shared password of
        its configuration (<code>admin.password</code>).
      </p>
    </form>
  );
}
