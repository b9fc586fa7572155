import { call } from '../../call';
import { Act } from '../../part/button';
import { Presets } from '../../part/presets';
import { Heading, Tabs } from '../../part/words';
import type { PageOf } from '../../route';
import { to } from '../../route';
import { applied, useWorkspace } from '../../workspace';
import { CustomTab } from './custom';
import { PresetTab } from './preset';
import { SavedTab } from './saved';
import { StatementsTab } from './statements';
import { UnsoldTab } from './unsold';

const tabs: [string, string][] = [
  ['revenue', 'Revenue'],
  ['buyers', 'Buyers'],
  ['sources', 'Sources'],
  ['unsold', 'Unsold'],
  ['statements', 'Statements'],
  ['custom', 'Custom'],
  ['saved', 'Saved'],
];

// periodic are the tabs with buttons for the preset periods.
const periodic = ['revenue', 'buyers', 'sources', 'unsold'];

export function ReportsPage({ id, query }: PageOf) {
  const at = id || 'revenue';
  const { preset } = applied(useWorkspace(), query);
  return (
    <>
      <Heading title="Reports">
        <Act
          needs="operator"
          tone="quiet"
          sure={{
            title: 'Rebuild the report?',
            text: <p>The exchange reads the whole log again. Until it is done, reports are behind.</p>,
          }}
          run={() => call('POST', 'report/rebuild')}
          done="The report is being rebuilt."
        >
          Rebuild
        </Act>
      </Heading>
      <Tabs label="Reports" at={at} of={tabs.map(([key, name]) => ({ key, name, href: to(['reports', key]) }))} />
      {periodic.includes(at) && (
        <fieldset class="switch wide">
          <legend class="unseen">Period</legend>
          <Presets at={preset} />
        </fieldset>
      )}
      {at === 'unsold' ? (
        <UnsoldTab query={query} />
      ) : at === 'statements' ? (
        <StatementsTab query={query} />
      ) : at === 'custom' ? (
        <CustomTab query={query} />
      ) : at === 'saved' ? (
        <SavedTab />
      ) : (
        <PresetTab key={at} preset={at === 'buyers' || at === 'sources' ? at : 'revenue'} query={query} />
      )}
    </>
  );
}
