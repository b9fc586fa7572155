import { campaign } from '../../form/campaign';
import { errorsWithin, pathOf, put } from '../../form/document';
import { type Editing, Fields } from '../../form/editor';
import { titleOf } from '../../form/spec';
import { Button } from '../../part/button';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Card } from '../../part/words';
import type { Doc } from '../../types';

const types = ['string', 'integer', 'number', 'boolean', 'date', 'email', 'phone', 'state', 'zip', 'enum', 'url'];

// FieldsStep edits the fields of a lead in a table. Rarely used settings are in a form below it.
export function FieldsStep({ form }: { form: Editing }) {
  const fields = Array.isArray(form.document.fields) ? (form.document.fields as Doc[]) : [];
  const save = (next: Doc[]) => form.set(put(form.document, ['fields'], next.length > 0 ? next : undefined));
  const set = (i: number, key: string, value: unknown) =>
    save(fields.map((f, j) => (j === i ? { ...f, [key]: value === false || value === '' ? undefined : value } : f)));
  const flag = (i: number, key: string, label: string) => (
    <input
      type="checkbox"
      aria-label={`${label}: ${fields[i]?.name || `field ${i + 1}`}`}
      disabled={form.locked}
      checked={fields[i]?.[key] === true}
      onChange={(e) => set(i, key, e.currentTarget.checked)}
    />
  );
  const rows = fields.map((_, i) => i);
  return (
    <Card
      title="Fields of a lead"
      side={
        <Button disabled={form.locked} onClick={() => save([...fields, { name: '', type: 'string' }])}>
          Add a field
        </Button>
      }
    >
      <p class="faint">
        Every lead has first_name, last_name, phone, email and state. List the fields of this vertical here.
      </p>
      {errorsWithin(form.errors, ['fields']).map((e) => (
        <p class="error">
          {titleOf(campaign, pathOf(e.field))}: {e.expected}
        </p>
      ))}
      {fields.length === 0 ? (
        <Empty title="No own fields">Choose a template under Basics, or add a field.</Empty>
      ) : (
        <Table
          caption="Fields of a lead"
          rows={rows}
          keyOf={String}
          columns={[
            {
              head: 'Name',
              of: (i) => (
                <input
                  aria-label={`Name of field ${i + 1}`}
                  class="mono"
                  disabled={form.locked}
                  value={String(fields[i]?.name ?? '')}
                  onInput={(e) => set(i, 'name', e.currentTarget.value)}
                />
              ),
            },
            {
              head: 'Type',
              of: (i) => (
                <select
                  aria-label={`Type of field ${i + 1}`}
                  disabled={form.locked}
                  value={String(fields[i]?.type ?? 'string')}
                  onChange={(e) => set(i, 'type', e.currentTarget.value)}
                >
                  {types.map((t) => (
                    <option value={t}>{t}</option>
                  ))}
                </select>
              ),
            },
            { head: 'Required', of: (i) => flag(i, 'required', 'Required') },
            { head: 'Include in ping', of: (i) => flag(i, 'ping', 'Include in ping') },
            { head: 'Contact data', of: (i) => flag(i, 'contact', 'Contact data') },
            {
              head: 'Action',
              of: (i) => (
                <Button
                  tone="quiet"
                  label={`Remove field ${i + 1}`}
                  disabled={form.locked}
                  onClick={() => save(fields.filter((_, j) => j !== i))}
                >
                  Remove
                </Button>
              ),
            },
          ]}
        />
      )}
      <details class="fold more">
        <summary>Limits, mapping, unknown fields</summary>
        <Fields of={campaign.filter((s) => ['fields', 'unknown'].includes(s.key))} path={[]} form={form} />
      </details>
    </Card>
  );
}
