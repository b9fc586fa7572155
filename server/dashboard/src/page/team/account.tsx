import { useState } from 'preact/hooks';
import { call, over, part } from '../../call';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Input } from '../../part/field';
import { Empty, Loaded } from '../../part/state';
import { Card } from '../../part/words';
import { to } from '../../route';
import { passwordHelp } from '../../team';
import type { Session } from '../../types';
import { SecondFactor } from './second-factor';

// AccountTab is the signed-in user's own account: the password and the second factor.
export function AccountTab() {
  const session = useLoad<Session>('session');
  return (
    <Loaded of={session}>
      {(of) =>
        of.second_factor === null || of.second_factor === undefined ? (
          <Card title="My account">
            {of.method === 'oidc' ? (
              <Empty title="You sign in at the identity provider">Its settings have your password and factors.</Empty>
            ) : (
              <Empty title="You are signed in with the shared password">
                It has no account of its own. <a href={to(['settings', 'team'])}>Invite yourself under Team</a> to get
                one.
              </Empty>
            )}
          </Card>
        ) : (
          <>
            <OwnPassword name={of.name} />
            <SecondFactor name={of.name} on={of.second_factor === 'on'} done={session.reload} />
          </>
        )
      }
    </Loaded>
  );
}

function OwnPassword({ name }: { name: string }) {
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  return (
    <Card title="Your password">
      <div class="row foot">
        <Input label="Current password" type="password" auto="current-password" value={old} set={setOld} />
        <Input
          label="New password"
          type="password"
          auto="new-password"
          help={passwordHelp}
          value={password}
          set={setPassword}
        />
        <Act
          needs="viewer"
          disabled={old === '' || password === ''}
          run={async () => {
            await call('PUT', `users/${part(name)}/password`, { body: { old, new: password } });
            setOld('');
            setPassword('');
            over();
          }}
          done="Your password is changed. Sign in with it."
        >
          Change password
        </Act>
      </div>
    </Card>
  );
}
