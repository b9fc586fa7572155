import { part } from '../../call';
import { label } from '../../format';
import { useLoad } from '../../load';
import { AuditList } from '../../part/audit';
import { Button } from '../../part/button';
import { Reveal, sortContact, useContacts } from '../../part/contact';
import { Empty, Loaded } from '../../part/state';
import { Card, Facts, Heading } from '../../part/words';
import type { PageOf } from '../../route';
import { to } from '../../route';
import { useDenied } from '../../session';
import type { Told } from '../../types';
import { Story, StoryTabs } from './story';

export function LeadPage({ id, tab }: PageOf) {
  const told = useLoad<Told>(`explain/${part(id)}`);
  const [contacts, reveal] = useContacts();
  const at = tab || 'summary';
  const lead = told.data?.lead_id || id;
  const contact = contacts.get(lead);
  return (
    <>
      <p class="crumbs">
        <a href={to(['leads'])}>Leads</a>
      </p>
      <Heading title={id} id={id}>
        {told.data && !told.data.erased && (
          <>
            {!contact && <Reveal lead={lead} take={(c) => reveal(lead, c)} />}
            <a class="button" href={to(['compliance', 'deletion'], { lead: told.data.lead_id })}>
              Delete consumer data
            </a>
          </>
        )}
      </Heading>
      {contact && (
        <Card
          title="Contact"
          side={
            <>
              <span class="faint">Shown until you leave this page.</span>
              <Button onClick={() => reveal(lead, null)}>Hide</Button>
            </>
          }
        >
          <Facts of={sortContact(contact).map(([name, value]) => [label(name), value])} />
        </Card>
      )}
      <StoryTabs place={['leads', id]} at={at} more={[['audit', 'Audit']]} />
      {at === 'audit' ? (
        <AuditTab key={`${lead} ${contact !== undefined}`} lead={lead} />
      ) : (
        <Loaded of={told}>{(t) => <Story told={t} at={at} />}</Loaded>
      )}
    </>
  );
}

// AuditTab lists the operators' actions on a lead.
function AuditTab({ lead }: { lead: string }) {
  const denied = useDenied('operator');
  return (
    <Card title="Audit log of this lead">
      {denied ? (
        <Empty title="The audit log is not shown">{denied}</Empty>
      ) : (
        <AuditList
          query={{ target_kind: 'lead', target: lead }}
          empty={
            <Empty title="No operator has acted on this lead">
              Show contact, at the top, and a decision about a return appear here after a moment. The{' '}
              <a href={to(['settings', 'audit'])}>audit log</a> has all actions.
            </Empty>
          }
        />
      )}
    </Card>
  );
}
