import { useState } from 'preact/hooks';
import { call, type Failure, part } from '../../call';
import { loadEntries } from '../../entries';
import { asFailure } from '../../load';
import { Act } from '../../part/button';
import { Check, Input } from '../../part/field';
import { Secret } from '../../part/secret';
import { Card, Heading } from '../../part/words';
import { Wrong } from '../../part/wrong';
import { go, to } from '../../route';
import { useDenied } from '../../session';
import { slug } from '../../slug';
import { putEntry } from '../entry/form';

// NewSupplier creates a supplier and its first API key, and shows the key once.
export function NewSupplier() {
  const [name, setName] = useState('');
  const [own, setOwn] = useState<string | undefined>(); // an id that the user typed
  const [test, setTest] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const [key, show] = useState('');
  const denied = useDenied('admin');
  const id = own ?? slug('sup_', name);
  const create = async () => {
    fail(undefined);
    try {
      await putEntry('suppliers', id, { id, name: name.trim(), ...(test && { test }) }, undefined, false);
      loadEntries();
      const made = await call<{ api_key: string }>('POST', `suppliers/${part(id)}/keys`);
      show(made.api_key);
    } catch (problem) {
      fail(asFailure(problem));
    }
  };
  const errors = (field: string) => failure?.fields.filter((f) => f.field === field) ?? [];
  return (
    <>
      <p class="crumbs">
        <a href={to(['suppliers'])}>Suppliers</a>
      </p>
      <Heading title="New supplier" />
      <Card title="Supplier">
        {denied && <p class="note">{denied}</p>}
        <div class="fields">
          <Input label="Name" value={name} set={setName} hint="Acme Leads" required errors={errors('name')} />
          <Input
            label="Id"
            value={id}
            set={(v) => setOwn(v === '' ? undefined : v)}
            required
            errors={errors('id')}
            help="1 to 64 letters, digits, _ - . It stays the same for good."
          />
          <Check label="Test supplier" value={test} set={setTest} help="All of its leads are test leads." />
        </div>
        <Wrong failure={failure} />
        <div class="row end">
          <Act needs="admin" tone="main" disabled={name.trim() === '' || id === ''} run={create}>
            Create supplier and API key
          </Act>
        </div>
      </Card>
      {key && (
        <Secret
          title={`API key of ${name}`}
          value={key}
          text="Give it to the supplier over a safe channel. Requests send it in the header x-api-key."
          close={() => go(['suppliers', id])}
          next={{ name: 'Posting instructions', run: () => go(['suppliers', id, 'instructions']) }}
        />
      )}
    </>
  );
}
