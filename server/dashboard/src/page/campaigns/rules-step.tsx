import { campaign } from '../../form/campaign';
import { type Editing, Fields } from '../../form/editor';
import { Card } from '../../part/words';

const rules = ['schedule', 'filters', 'caps', 'duplicates', 'returns'];
const more = ['suppression', 'consent_required_sources', 'consent_hosts'];

// RulesStep edits a campaign's schedule, filters, caps, duplicates and returns.
export function RulesStep({ form }: { form: Editing }) {
  return (
    <Card title="Rules">
      <Fields of={campaign.filter((s) => rules.includes(s.key))} path={[]} form={form} />
      <details class="fold more">
        <summary>Suppression and consent</summary>
        <Fields of={campaign.filter((s) => more.includes(s.key))} path={[]} form={form} />
      </details>
    </Card>
  );
}
