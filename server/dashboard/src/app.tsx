import { useEffect, useState } from 'preact/hooks';
import { call, Failure, onEnded, signedWith } from './call';
import { asFailure } from './load';
import { SignIn } from './page/signin';
import { Notice } from './part/notice';
import { SessionContext } from './session';
import { Shell } from './shell';
import type { Session } from './types';

// App loads the signed-in user. After a session ends, the page stays in memory, hidden, with
// all input. Signing in again under the same name shows it again.
export function App() {
  const [session, set] = useState<Session | undefined>();
  const [stage, go] = useState<'asking' | 'out' | 'in' | 'failed'>('asking');
  const [failure, fail] = useState<Failure | undefined>();
  const [ended, end] = useState(false);
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
      {stage === 'asking' && !session && (
        <p class="state" role="status">
          Loading…
        </p>
      )}
      {stage === 'failed' && (
        <main class="alone">
          <h1>pingpost</h1>
          <div class="state bad" role="alert">
            <p class="state-title">The exchange does not answer as it should</p>
            <p>{failure?.message}</p>
            <button type="button" class="button main" onClick={ask}>
              Try again
            </button>
          </div>
        </main>
      )}
      {stage === 'out' && <SignIn ended={ended} taken={take} />}
      {session && (
        <SessionContext.Provider value={session}>
          <div hidden={stage !== 'in'} key={`${session.name} ${session.role}`}>
            <Shell leave={leave} />
          </div>
        </SessionContext.Provider>
      )}
      <Notice />
    </>
  );
}
