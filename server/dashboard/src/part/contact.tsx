// Shows the contact data of a lead for a reason that the audit log records.

import { useEffect, useId, useState } from 'preact/hooks';
import { call, type Failure, part } from '../call';
import { label } from '../format';
import { asFailure } from '../load';
import { useDenied } from '../session';
import type { Contact } from '../types';
import { Button, usePassedFocus } from './button';
import { Dialog } from './dialog';
import { Input } from './field';
import { Wrong } from './wrong';

// useContacts keeps the revealed contact data by lead until the page is left or the session ends.
export function useContacts(): [Map<string, Contact>, (lead: string, contact: Contact | null) => void] {
  const [all, set] = useState(new Map<string, Contact>());
  useEffect(() => {
    const forget = () => set(new Map());
    addEventListener('session-ended', forget);
    return () => removeEventListener('session-ended', forget);
  }, []);
  const put = (lead: string, contact: Contact | null) =>
    set((before) => {
      const next = new Map(before);
      if (contact) next.set(lead, contact);
      else next.delete(lead);
      return next;
    });
  return [all, put];
}

const first = ['first_name', 'last_name', 'phone', 'email'];

// sortContact returns the fields with the name, the phone number and the email first.
export function sortContact(of: Contact): [string, string][] {
  const rank = (name: string) => first.indexOf(name) + 1 || first.length + 1;
  return Object.entries(of).sort((a, b) => rank(a[0]) - rank(b[0]));
}

// ContactLines shows contact data in a cell: the name, and a line for each other field.
export function ContactLines({ of }: { of: Contact }) {
  const name = [of.first_name, of.last_name].filter(Boolean).join(' ');
  const rest = sortContact(of).filter(([field]) => !['first_name', 'last_name'].includes(field));
  return (
    <ul class="lines">
      {name && <li>{name}</li>}
      {rest.map(([field, value]) => (
        <li title={label(field)}>{value}</li>
      ))}
    </ul>
  );
}

// Reveal is a button that asks for a reason and loads the contact data.
export function Reveal({ lead, take, label }: { lead: string; take: (contact: Contact) => void; label?: string }) {
  const denied = useDenied('operator');
  const id = useId();
  const at = usePassedFocus();
  const [asking, ask] = useState(false);
  const [reason, write] = useState('');
  const [busy, work] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const close = () => {
    ask(false);
    fail(undefined);
    write('');
  };
  const reveal = async () => {
    if (busy) return;
    work(true);
    fail(undefined);
    try {
      const { contact } = await call<{ contact: Contact }>('POST', `leads/${part(lead)}/reveal`, { body: { reason } });
      close();
      take(contact);
    } catch (problem) {
      fail(asFailure(problem));
    } finally {
      work(false);
    }
  };
  return (
    <span class="act" ref={at}>
      <Button onClick={() => ask(true)} disabled={denied !== ''} describedBy={denied ? id : undefined} label={label}>
        Show contact
      </Button>
      {denied && (
        <small class="why" id={id}>
          {denied}
        </small>
      )}
      {asking && (
        <Dialog title="Show the contact data?" close={close}>
          <form
            class="lines"
            autocomplete="off"
            onSubmit={(e) => {
              e.preventDefault();
              void reveal();
            }}
          >
            <p>The audit log records your name, this lead and the reason.</p>
            <Input label="Reason" required value={reason} set={write} hint="Complaint 4711" />
            <Wrong failure={failure} />
            <div class="row end">
              <Button onClick={close}>Cancel</Button>
              <Button type="submit" tone="main" disabled={reason.trim() === ''} busy={busy}>
                Show contact
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </span>
  );
}
