import { useState } from 'preact/hooks';
import { campaign } from '../../form/campaign';
import { errorsAt, put } from '../../form/document';
import { type Editing, Fields } from '../../form/editor';
import { Input, Select } from '../../part/field';
import { Card } from '../../part/words';
import { templates, withTemplate } from './templates';

const main = ['method', 'vertical', 'floor', 'suppliers'];
const more = ['sub_vertical', 'currency', 'time_zone', 'bid_timeout', 'post_reserve', 'ping_reserve'];

const [group] = campaign.filter((s) => s.key === 'payout');
const payout = group?.kind === 'group' ? group.of : [];

// Basics are a campaign's name, template, method and money.
export function Basics({ form, id }: { form: Editing; id: string }) {
  const [template, choose] = useState('');
  const text = (key: string, value: string) => form.set(put(form.document, [key], value === '' ? undefined : value));
  return (
    <Card title="Basics">
      <div class="fields">
        <Input
          name="name"
          label="Name"
          required
          disabled={form.locked}
          value={String(form.document.name ?? '')}
          set={(v) => text('name', v)}
          errors={errorsAt(form.errors, ['name'])}
        />
        <Input
          name="id"
          label="Id"
          required
          disabled={form.locked}
          value={id}
          set={(v) => text('id', v)}
          errors={errorsAt(form.errors, ['id'])}
          help="It stays the same for good."
        />
        <Select
          label="Template"
          value={template}
          disabled={form.locked}
          set={(key) => {
            choose(key);
            form.set(withTemplate(form.document, key));
          }}
          options={templates.map((t): [string, string] => [t.key, t.name])}
          help="sets the method, the vertical and the fields"
        />
      </div>
      <Fields of={campaign.filter((s) => main.includes(s.key))} path={[]} form={form} />
      <h3>Payout</h3>
      <Fields of={payout} path={['payout']} form={form} />
      <details class="fold more">
        <summary>More settings</summary>
        <Fields of={campaign.filter((s) => more.includes(s.key))} path={[]} form={form} />
      </details>
    </Card>
  );
}
