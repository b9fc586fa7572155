import { useEffect, useId, useState } from 'preact/hooks';
import { call, part } from '../../call';
import { Act, Button } from '../../part/button';
import { Input } from '../../part/field';
import { say } from '../../part/notice';
import { Badge, Card } from '../../part/words';
import type { TotpSecret } from '../../team';

// SecondFactor turns the second factor of the own account on or off. done is called afterwards.
export function SecondFactor({ name, on, done }: { name: string; on: boolean; done: () => void }) {
  const [secret, set] = useState<TotpSecret | undefined>();
  const [codes, show] = useState<string[]>([]);
  const path = `users/${part(name)}/totp`;
  if (codes.length > 0) {
    return (
      <RecoveryCodes
        codes={codes}
        close={() => {
          show([]);
          set(undefined);
          done();
        }}
      />
    );
  }
  return (
    <Card title="Second factor" side={on ? <Badge tone="good">on</Badge> : <Badge>off</Badge>}>
      {on ? (
        <TurnOff path={path} done={done} />
      ) : secret ? (
        <Confirm of={secret} path={path} show={show} />
      ) : (
        <>
          <p>With a second factor, the sign-in also needs a code of an authenticator app (TOTP).</p>
          <div class="row">
            <Act needs="viewer" tone="main" run={async () => set(await call<TotpSecret>('POST', path))}>
              Turn on
            </Act>
          </div>
        </>
      )}
    </Card>
  );
}

function Confirm({ of, path, show }: { of: TotpSecret; path: string; show: (codes: string[]) => void }) {
  const [code, set] = useState('');
  return (
    <>
      <p>Scan the picture with an authenticator app, or type the secret into it. Then enter the code that it shows.</p>
      <div class="row start">
        <Qr text={of.otpauth_url} />
        <div class="grow fields">
          <CopiedText label="Secret" text={of.secret} shown={of.secret.replace(/.{4}(?=.)/g, '$& ')} />
          <CopiedText label="Address of the secret" text={of.otpauth_url} />
          <CodeInput value={code} set={set} />
          <div class="row">
            <Act
              needs="viewer"
              tone="main"
              disabled={code === ''}
              run={async () => {
                const { recovery_codes: codes } = await call<{ recovery_codes: string[] }>('POST', `${path}/confirm`, {
                  body: { code: code.trim() },
                });
                show(codes);
              }}
            >
              Confirm
            </Act>
          </div>
        </div>
      </div>
    </>
  );
}

// CopiedText shows a whole text with a button that copies it.
function CopiedText({ label, text, shown = text }: { label: string; text: string; shown?: string }) {
  const id = useId();
  return (
    <div class="field">
      <strong id={id}>{label}</strong>
      <p class="row">
        <output class="grow mono" aria-labelledby={id}>
          {shown}
        </output>
        <Button tone="quiet" label={`Copy: ${label}`} onClick={() => void copy(text)}>
          Copy
        </Button>
      </p>
    </div>
  );
}

const copy = (text: string) =>
  navigator.clipboard ? navigator.clipboard.writeText(text).then(() => say('Copied.')) : say('Copying needs https.');

// CodeInput takes a code of the authenticator app.
export function CodeInput({ value, set, help }: { value: string; set: (v: string) => void; help?: string }) {
  return <Input label="Code" value={value} set={set} auto="one-time-code" help={help} />;
}

const margin = 4; // modules around a QR code, as its standard wants

// Qr draws a text as a QR code. Its library is loaded only here.
function Qr({ text }: { text: string }) {
  const [rows, set] = useState<boolean[][] | undefined>();
  const [failed, fail] = useState(false);
  useEffect(() => {
    import('uqr').then(
      ({ encode }) => set(encode(text, { border: margin }).data),
      () => fail(true),
    );
  }, [text]);
  if (failed) return <p class="faint">The picture could not be loaded. Type the secret instead.</p>;
  if (!rows) return <p class="faint">Loading…</p>;
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label="QR code of the secret">
      <path d={path} shape-rendering="crispEdges" />
    </svg>
  );
}

function RecoveryCodes({ codes, close }: { codes: string[]; close: () => void }) {
  return (
    <Card title="Recovery codes">
      <p>Each code signs in once, in place of a code of the app. Keep them where you keep your passwords.</p>
      <ul class="codes">
        {codes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <p class="note warn">Copy them now. They are shown once.</p>
      <div class="row end">
        <Button onClick={() => void copy(codes.join('\n'))}>Copy</Button>
        <Button tone="main" onClick={close}>
          Done
        </Button>
      </div>
    </Card>
  );
}

function TurnOff({ path, done }: { path: string; done: () => void }) {
  const [code, set] = useState('');
  return (
    <div class="row foot">
      <CodeInput value={code} set={set} help="of the app, or a recovery code" />
      <Act
        needs="viewer"
        tone="danger"
        disabled={code === ''}
        run={async () => {
          await call('DELETE', path, { body: { code: code.trim() } });
          set('');
          done();
        }}
        done="The second factor is off."
      >
        Turn off
      </Act>
    </div>
  );
}
