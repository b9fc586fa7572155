import { useEffect, useState } from 'preact/hooks';
import { call, Failure, onEnded, signedWith } from './call';
import { asFailure } from './load';
import { Enrolment } from './page/team/enrolment';
import { InvitationPage } from './page/team/invitation';
import { SignIn } from './page/team/sign-in';
import { Notice } from './part/notice';
import { parse } from './route';
import { SessionContext } from './session';
import { Shell } from './shell/shell';
import type { Session } from './types';

// tokenOf returns the token of an invitation's address, empty for other addresses.
function tokenOf(hash: string): string {
  const [first, token = ''] = parse(hash).path;
  return first === 'invite' ? token : '';
}

// useInvitation follows the address to an invitation. The returned function leaves it, and
// removes its token from the browser's history.
function useInvitation(): [string, () => void] {
  const [token, set] = useState(tokenOf(location.hash));
  useEffect(() => {
    const follow = () => set(tokenOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const leave = () => {
    history.replaceState(null, '', '#/');
    set('');
  };
  return [token, leave];
}

// App loads the signed-in user. After a session ends, the page stays in memory, hidden, with
// all input. Signing in again under the same name shows it again.
export function App() {
  const [session, set] = useState<Session | undefined>();
  const [stage, go] = useState<'asking' | 'out' | 'in' | 'failed'>('asking');
  const [failure, fail] = useState<Failure | undefined>();
  const [ended, end] = useState(false);
  const [invitation, leaveInvitation] = useInvitation();
  const take = (s: Session) => {
    signedWith(s.csrf ?? '');
    set(s);
    end(false);
    go('in');
    dispatchEvent(new Event('signed-in'));
  };
  const ask = () => {
    go('asking');
    call<Session>('GET', 'session').then(take, (problem) => {
      const why = asFailure(problem);
      fail(why);
      go(why.status === 401 ? 'out' : 'failed');
    });
  };
  useEffect(() => {
    onEnded(() => {
      signedWith('');
      dispatchEvent(new Event('session-ended'));
      end(true);
      go('out');
    });
    ask();
  }, []);
  const leave = async () => {
    try {
      await call('DELETE', 'session');
    } catch (problem) {
      if (!(problem instanceof Failure) || problem.status !== 401) throw problem;
    }
    signedWith('');
    set(undefined);
    end(false);
    go('out');
  };
  return (
    <>
      {invitation && (
        <InvitationPage
          key={invitation}
          token={invitation}
          taken={(s) => {
            leaveInvitation();
            take(s);
          }}
        />
      )}
      {!invitation && stage === 'asking' && !session && (
        <p class="state" role="status">
          Loading…
        </p>
      )}
      {!invitation && stage === 'failed' && (
        <main class="alone">
          <h1>pingpost</h1>
          <div class="state bad" role="alert">
            <p class="state-title">The exchange gives an unexpected answer</p>
            <p>{failure?.message}</p>
            <button type="button" class="button main" onClick={ask}>
              Try again
            </button>
          </div>
        </main>
      )}
      {!invitation && stage === 'out' && <SignIn ended={ended} taken={take} />}
      {session && (
        <SessionContext.Provider value={session}>
          <div hidden={stage !== 'in' || invitation !== ''} key={`${session.name} ${session.role}`}>
            {session.second_factor === 'required' ? (
              <Enrolment name={session.name} done={ask} leave={leave} />
            ) : (
              <Shell leave={leave} />
            )}
          </div>
        </SessionContext.Provider>
      )}
      <Notice />
    </>
  );
}
