import { useEffect, useState } from 'preact/hooks';
import { arrivalOf, instant } from '../../format';
import { usePages } from '../../load';
import { Button } from '../../part/button';
import { ContactLines } from '../../part/contact';
import { Input } from '../../part/field';
import { More } from '../../part/more';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Cash, Heading, Id, Ref, Status, statusOf, Time } from '../../part/words';
import { type Person, personOf, takePerson } from '../../person';
import type { Found, PersonLead } from '../../types';
import { LeadsTabs } from './leads';

// FindPage finds the leads of a person by phone number or email. It forgets the person when the
// user leaves the page or the session ends.
export function FindPage() {
  const [person, find] = useState<Person | null>(takePerson);
  const [text, write] = useState(person?.value ?? '');
  const [wrong, judge] = useState(false);
  useEffect(() => {
    const take = () => {
      const next = takePerson();
      if (!next) return;
      find(next);
      write(next.value);
      judge(false);
    };
    const forget = () => {
      find(null);
      write('');
    };
    addEventListener('person', take);
    addEventListener('session-ended', forget);
    return () => {
      removeEventListener('person', take);
      removeEventListener('session-ended', forget);
    };
  }, []);
  return (
    <>
      <Heading title="Find a person" />
      <LeadsTabs at="find" />
      <form
        class="row foot"
        autocomplete="off"
        onSubmit={(e) => {
          e.preventDefault();
          const next = personOf(text);
          judge(!next);
          find(next);
        }}
      >
        <Input
          label="Phone or email"
          type="search"
          value={text}
          set={write}
          hint="(415) 555-0100"
          help="Numbers outside the US with + and country code. The audit log records the search, with the value masked."
          errors={wrong ? [{ field: 'person', code: '', expected: 'a phone number or an email address' }] : []}
        />
        <Button type="submit" tone="main" disabled={text.trim() === ''}>
          Find
        </Button>
      </form>
      {person && <PersonLeads key={`${person.by} ${person.value}`} of={person} />}
    </>
  );
}

type Page = Found & { leads: PersonLead[] };

function PersonLeads({ of }: { of: Person }) {
  const pages = usePages<Page>('leads/find', { [of.by]: of.value, limit: 50 }, true);
  const leads = pages.data?.flatMap((p) => p.leads) ?? [];
  const last = pages.data?.at(-1);
  return (
    <>
      {pages.data && !pages.data[0]?.complete && (
        <div class="note warn row">
          The report is catching up: the newest leads can be missing.
          <Button onClick={pages.reload} busy={pages.busy}>
            Search again
          </Button>
        </div>
      )}
      <More
        of={pages}
        none={leads.length === 0}
        note={
          last?.searched_from && <span class="faint">Leads before {instant(last.searched_from)} are not found.</span>
        }
        empty={
          <Empty title="No lead of this person">Check the spelling. Leads whose data was deleted are not found.</Empty>
        }
      >
        <Table
          caption="Leads of the person"
          rows={leads}
          keyOf={(l) => l.id}
          columns={[
            { head: 'Lead', of: (l) => <Id of="leads" id={l.id} /> },
            { head: 'Received', of: (l) => <Time at={arrivalOf(l)} />, sort: arrivalOf, phone: 'plain' },
            {
              head: 'Contact',
              phone: 'menu',
              of: (l) => (l.contact ? <ContactLines of={l.contact} /> : <span class="faint">no longer readable</span>),
            },
            {
              head: 'Status',
              phone: 'side',
              sort: (l) => l.status,
              of: (l) => (
                <>
                  <Status word={statusOf(l)} /> {l.test && <Badge>test</Badge>}
                </>
              ),
            },
            {
              head: 'Campaign',
              of: (l) => <Ref of="campaigns" id={l.campaign} />,
              sort: (l) => l.campaign,
              phone: 'plain',
            },
            {
              head: 'Supplier',
              of: (l) => <Ref of="suppliers" id={l.supplier} />,
              sort: (l) => l.supplier,
              phone: 'none',
            },
            {
              head: 'Source',
              of: (l) => l.source || <span class="faint">–</span>,
              sort: (l) => l.source,
              phone: 'none',
            },
            { head: 'Winning buyer', of: (l) => <Ref of="buyers" id={l.buyer} />, sort: (l) => l.buyer, phone: 'none' },
            {
              head: 'Price',
              number: true,
              phone: 'plain',
              of: (l) => <Cash of={l.price} currency={l.currency} />,
              sort: (l) => l.price,
            },
          ]}
        />
      </More>
    </>
  );
}
