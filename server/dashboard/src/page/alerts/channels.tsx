import { useState } from 'preact/hooks';
import { type Channel, stateOf } from '../../alerts';
import { call, part } from '../../call';
import { count } from '../../format';
import { Act, Button } from '../../part/button';
import { say } from '../../part/notice';
import { Secret } from '../../part/secret';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Time } from '../../part/words';
import { may, useSession } from '../../session';
import { ChannelForm, channelKinds } from './channel-form';

// Channels lists the receivers of notifications, with their health.
export function Channels({ of, done }: { of: Channel[]; done: () => void }) {
  const admin = may(useSession().role, 'admin');
  const [edited, edit] = useState<Channel | 'new' | undefined>();
  const [secret, show] = useState('');
  return (
    <Card
      title="Channels"
      side={
        <Act needs="admin" run={async () => edit('new')}>
          Add channel
        </Act>
      }
    >
      {of.length === 0 ? (
        <Empty title="No channels">Alerts only appear here until you add an email, Slack or webhook channel.</Empty>
      ) : (
        <Table
          caption="Channels"
          rows={of}
          keyOf={(c) => c.id}
          columns={[
            { head: 'Channel', of: (c) => c.name || c.id },
            {
              head: 'State',
              phone: 'side',
              of: (c) => <Badge tone={stateOf(c).tone}>{stateOf(c).word}</Badge>,
            },
            { head: 'Sends to', of: sendsTo },
            { head: 'Health', of: (c) => stateOf(c).text || '–' },
            { head: 'Queued', number: true, of: (c) => count(c.health.queued) },
            { head: 'Last success', of: (c) => <Time at={c.health.last_success_at} /> },
            ...(admin
              ? [{ head: 'Action', of: (c: Channel) => <Actions channel={c} edit={() => edit(c)} done={done} /> }]
              : []),
          ]}
        />
      )}
      {edited && (
        <ChannelForm
          channel={edited === 'new' ? undefined : edited}
          close={() => edit(undefined)}
          done={(saved) => {
            edit(undefined);
            if (saved.secret) show(saved.secret);
            done();
          }}
        />
      )}
      {secret && (
        <Secret
          title="Signing secret"
          value={secret}
          text="The receiver checks the signature of each notification with it."
          close={() => show('')}
        />
      )}
    </Card>
  );
}

function sendsTo(c: Channel) {
  const kind = channelKinds.find(([word]) => word === c.kind)?.[1] ?? c.kind;
  if (c.kind === 'email') return `${kind}: ${c.to?.join(', ')}, through ${c.host}:${c.port}`;
  return c.url ? `${kind}: ${c.url}` : kind;
}

function Actions({ channel, edit, done }: { channel: Channel; edit: () => void; done: () => void }) {
  const [wrong, tell] = useState('');
  const path = `alerts/channels/${part(channel.id)}`;
  const name = channel.name || channel.id;
  const test = async () => {
    tell('');
    const result = await call<{ sent: boolean; error: string | null }>('POST', `${path}/test`);
    if (result.sent) say(`The test notification to ${name} has arrived.`);
    else tell(result.error ?? 'The receiver did not accept it.');
    done();
  };
  return (
    <>
      <div class="row">
        <Act needs="admin" tone="quiet" label={`Test the channel ${name}`} run={test}>
          Test
        </Act>
        <Button tone="quiet" label={`Edit the channel ${name}`} onClick={edit}>
          Edit
        </Button>
        <Act
          needs="admin"
          tone="danger"
          label={`Delete the channel ${name}`}
          sure={{ title: `Delete ${name}?`, text: <p>Its waiting notifications are dropped.</p> }}
          run={async () => {
            await call('DELETE', path, { headers: { 'If-Match': channel.etag } });
            done();
          }}
          done={`${name} is deleted.`}
        >
          Delete
        </Act>
      </div>
      {wrong && (
        <p class="note bad" role="alert">
          The test failed: {wrong}
        </p>
      )}
    </>
  );
}
