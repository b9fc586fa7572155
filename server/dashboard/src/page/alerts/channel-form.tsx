import { useState } from 'preact/hooks';
import type { Channel, ChannelDocument, ChannelKind } from '../../alerts';
import { part } from '../../call';
import { Act, Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import { Check, Input, Select } from '../../part/field';
import { say } from '../../part/notice';
import { Wrong } from '../../part/wrong';
import { slug } from '../../slug';
import { Conflict } from './met';
import { useSave } from './save';

export const channelKinds: [ChannelKind, string][] = [
  ['email', 'Email'],
  ['slack', 'Slack'],
  ['webhook', 'Webhook'],
];

const securities: [string, string][] = [
  ['starttls', 'STARTTLS'],
  ['tls', 'TLS'],
  ['none', 'None (only in trusted networks)'],
];

// labels are the labels of the inputs, by field of the API.
const labels: { [field: string]: string } = {
  id: 'Name',
  name: 'Name',
  host: 'SMTP server',
  port: 'Port',
  security: 'Encryption',
  username: 'User name',
  secret: 'Password or secret',
  from: 'From',
  to: 'To',
  url: 'Address',
};

// Typed is the input of a form. An empty secret keeps the stored one.
type Typed = {
  [name in 'name' | 'url' | 'host' | 'port' | 'security' | 'username' | 'from' | 'to' | 'secret']: string;
};

const typedOf = (c: Channel | undefined): Typed => ({
  name: c?.name ?? '',
  url: c?.url ?? '',
  host: c?.host ?? '',
  port: c?.port ? String(c.port) : '',
  security: c?.security ?? 'starttls',
  username: c?.username ?? '',
  from: c?.from ?? '',
  to: c?.to?.join(', ') ?? '',
  secret: '',
});

function documentOf(kind: ChannelKind, typed: Typed, off: boolean): ChannelDocument {
  const shared = { name: typed.name.trim(), kind, off, ...(typed.secret && { secret: typed.secret }) };
  if (kind !== 'email') return { ...shared, ...(typed.url && { url: typed.url.trim() }) };
  return {
    ...shared,
    host: typed.host.trim(),
    ...(typed.port && { port: Number(typed.port) }),
    security: typed.security,
    ...(typed.username && { username: typed.username }),
    from: typed.from.trim(),
    to: typed.to.split(/[\s,;]+/).filter((address) => address !== ''),
  };
}

interface Of {
  channel: Channel | undefined; // undefined: a new one
  close: () => void;
  done: (saved: Channel) => void;
}

// ChannelForm edits a channel, or adds one. It never gets the stored secret.
export function ChannelForm({ channel, close, done }: Of) {
  const [kind, choose] = useState<ChannelKind>(channel?.kind ?? 'email');
  const [typed, type] = useState(typedOf(channel));
  const [off, turn] = useState(channel?.off ?? false);
  const { save, met, failure } = useSave<Channel>(channel);
  const id = channel?.id ?? slug('', typed.name);
  const body = documentOf(kind, typed, off);
  const store = async () => {
    const saved = await save(`alerts/channels/${part(id)}`, body);
    if (!saved) return;
    say(`${saved.name || saved.id} is saved.`);
    done(saved);
  };
  const errors = (field: string) => failure?.fields.filter((f) => f.field.replace(/\[.*/, '') === field) ?? [];
  const input = (name: keyof Typed, label: string, more: { help?: string; required?: boolean; type?: string } = {}) => (
    <Input
      label={label}
      value={typed[name]}
      set={(v) => type({ ...typed, [name]: v })}
      errors={name === 'name' ? [...errors('name'), ...errors('id')] : errors(name)}
      auto={more.type === 'password' ? 'new-password' : 'off'}
      {...more}
    />
  );
  const kept = channel?.has_secret ? 'stored; leave it empty to keep it' : undefined;
  return (
    <Dialog title={channel ? `Edit ${channel.name || channel.id}` : 'New channel'} close={close}>
      <div class="fields">
        {input('name', 'Name', { required: true })}
        <Select
          label="Kind"
          value={kind}
          set={(k) => choose(k as ChannelKind)}
          options={channelKinds}
          disabled={channel !== undefined}
        />
        {kind === 'email' && (
          <>
            {input('host', 'SMTP server', { required: true })}
            {input('port', 'Port', { type: 'number', help: '587 for STARTTLS, 465 for TLS if empty' })}
            <Select
              label="Encryption"
              value={typed.security}
              set={(v) => type({ ...typed, security: v })}
              options={securities}
              errors={errors('security')}
            />
            {input('username', 'User name')}
            {input('secret', 'SMTP password', { type: 'password', help: kept })}
            {input('from', 'From', { required: true })}
            {input('to', 'To', { required: true, help: 'email addresses, separated by commas' })}
          </>
        )}
        {kind === 'slack' && input('url', 'Address of the incoming webhook', { type: 'password', help: kept })}
        {kind === 'webhook' && (
          <>
            {input('url', 'Address', { required: true })}
            {input('secret', 'Signing secret', {
              type: 'password',
              help: kept ?? 'leave it empty for a new one, which is shown once',
            })}
          </>
        )}
      </div>
      <Check label="Off" value={off} set={turn} help="The channel gets no notifications." />
      <Conflict met={met} mine={shown(body)} />
      <Wrong failure={failure} titleOf={(field) => labels[field.replace(/\[.*/, '')] ?? field} />
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Act needs="admin" tone="main" disabled={id === ''} run={store}>
          Save channel
        </Act>
      </div>
    </Dialog>
  );
}

// shown is what a comparison with another version may show.
function shown({ secret: _secret, ...rest }: ChannelDocument): object {
  if (rest.kind !== 'slack') return rest;
  const { url: _url, ...open } = rest;
  return open;
}
