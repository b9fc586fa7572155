import { useState } from 'preact/hooks';
import { call, type Failure, part } from '../../call';
import { instant } from '../../format';
import { asFailure, useLoad } from '../../load';
import { Button } from '../../part/button';
import { Input } from '../../part/field';
import { Waiting } from '../../part/state';
import { Wrong } from '../../part/wrong';
import { passwordHelp, type ShownInvitation } from '../../team';
import type { Session } from '../../types';
import { useWorkspace } from '../../workspace';
import { checkCookie } from './cookie';

// InvitationPage opens the account of an invitation and signs in. It needs no session.
export function InvitationPage({ token, taken }: { token: string; taken: (s: Session) => void }) {
  const found = useLoad<ShownInvitation>(`invitations/${part(token)}`);
  return (
    <main class="alone">
      <h1>{found.data?.tenant || 'pingpost'}</h1>
      {found.failure ? (
        <div class="state bad" role="alert">
          <p class="state-title">{titleOf(found.failure)}</p>
          <p>{found.failure.message}</p>
          <a class="button" href="#/">
            Sign in
          </a>
        </div>
      ) : found.data ? (
        <Accept of={found.data} token={token} taken={taken} />
      ) : (
        <Waiting />
      )}
    </main>
  );
}

function titleOf(failure: Failure): string {
  if (failure.status === 410) return 'This invitation has ended';
  if (failure.status === 404) return 'This link does not work';
  return 'The invitation cannot be shown';
}

function Accept({ of, token, taken }: { of: ShownInvitation; token: string; taken: (s: Session) => void }) {
  const { zone } = useWorkspace();
  const [name, setName] = useState(of.name ?? '');
  const [password, setPassword] = useState('');
  const [busy, work] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const errors = (field: string) => failure?.fields.filter((f) => f.field === field) ?? [];
  const accept = async () => {
    work(true);
    fail(undefined);
    try {
      const session = await call<Session>('POST', `invitations/${part(token)}/accept`, { body: { name, password } });
      await checkCookie();
      taken(session);
    } catch (problem) {
      fail(asFailure(problem));
    } finally {
      work(false);
    }
  };
  return (
    <form
      class="card"
      onSubmit={(e) => {
        e.preventDefault();
        void accept();
      }}
    >
      <h2>Open your account</h2>
      <p>
        {of.by || 'An administrator'} invites you with the role <strong>{of.role}</strong>.
      </p>
      <p class="faint">
        The invitation works until {instant(of.expires_at)} ({zone}).
      </p>
      <Input
        label="Name"
        value={name}
        set={setName}
        auto="username"
        required
        disabled={of.name !== null}
        help="a-z, 0-9 and . _ - @ +"
        errors={errors('name')}
      />
      <Input
        label="Password"
        type="password"
        value={password}
        set={setPassword}
        auto="new-password"
        required
        help={passwordHelp}
        errors={errors('password')}
      />
      <Wrong failure={failure} />
      <Button type="submit" tone="main" disabled={busy || name === '' || password === ''} busy={busy}>
        Open account and sign in
      </Button>
    </form>
  );
}
