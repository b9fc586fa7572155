import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, Failure, part } from '../../call';
import { type By, type Erased, helps, hints, leftOf, names, noLead } from '../../erase';
import { count, words } from '../../format';
import { asFailure } from '../../load';
import { Act, Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import { Input, Select } from '../../part/field';
import { Table } from '../../part/table';
import { Card, Facts, Id, Status, Time } from '../../part/words';
import { Wrong } from '../../part/wrong';
import { useDenied } from '../../session';
import type { Told } from '../../types';

// Review keeps the identifier that the operator typed before the review. Erasing uses this
// value, even if the field has changed since.
interface Review {
  by: By;
  value: string;
  told?: Told;
}

// DeletionTab deletes a person's data. The identifier exists only in the input field and is
// never in a URL or in storage.
export function DeletionTab({ query }: { query: { [name: string]: string } }) {
  const [by, choose] = useState<By>(query.lead ? 'lead' : 'email');
  const [value, set] = useState(query.lead ?? '');
  const [failure, fail] = useState<Failure | undefined>();
  const [review, ask] = useState<Review | undefined>();
  const reviews = useRef(0);
  const [outcome, show] = useState<Erased | undefined>();
  const denied = useDenied('admin');
  const wanted = value.trim();
  const errors = failure?.fields.filter((f) => f.field === by) ?? [];
  useEffect(() => {
    if (errors.length > 0) window.document.querySelector<HTMLElement>('#main .wrong input')?.focus();
  }, [failure]);
  useEffect(() => {
    const forget = () => set('');
    addEventListener('session-ended', forget);
    return () => removeEventListener('session-ended', forget);
  }, []);
  const look = async () => {
    fail(undefined);
    show(undefined);
    if (by === 'lead' && !wanted.startsWith('lead_')) {
      fail(new Failure(0, '', noLead, [{ field: 'lead', code: 'wrong_format', expected: noLead }]));
      return;
    }
    const mine = ++reviews.current;
    try {
      const told = by === 'lead' ? await call<Told>('GET', `explain/${part(wanted)}`) : undefined;
      if (mine === reviews.current) ask({ by, value: told?.lead_id || wanted, told });
    } catch (problem) {
      if (mine === reviews.current) fail(asFailure(problem));
    }
  };
  const erase = async (of: Review) => {
    try {
      show(await call<Erased>('POST', 'erase', { body: { [of.by]: of.value } }));
      set('');
    } catch (problem) {
      fail(asFailure(problem));
    }
    ask(undefined);
  };
  return (
    <>
      <p>
        For a consumer’s request to delete their data. Decisions, payments and outcomes stay. The personal data is
        deleted for good.
      </p>
      <Card title="Consumer">
        {denied && <p class="note">{denied}</p>}
        <form
          class="row foot"
          autocomplete="off"
          onSubmit={(e) => {
            e.preventDefault();
            void look();
          }}
        >
          <Select
            label="Find by"
            value={by}
            set={(v) => {
              choose(v as By);
              set('');
              fail(undefined);
            }}
            disabled={denied !== ''}
            options={(Object.keys(names) as By[]).map((k) => [k, names[k]])}
          />
          <Input
            label={names[by]}
            value={value}
            set={set}
            hint={hints[by]}
            help={helps[by]}
            errors={errors}
            disabled={denied !== ''}
          />
          <Button type="submit" disabled={denied !== '' || wanted === ''}>
            Review
          </Button>
        </form>
        {errors.length === 0 && <Wrong failure={failure} />}
      </Card>
      {review && (
        <Dialog title="Delete this data for good?" close={() => ask(undefined)}>
          <What {...review} />
          <div class="row end">
            <Button onClick={() => ask(undefined)}>Cancel</Button>
            <Act needs="admin" tone="danger" run={() => erase(review)}>
              Delete
            </Act>
          </div>
        </Dialog>
      )}
      {outcome && <Outcome of={outcome} />}
    </>
  );
}

// What lists the affected leads, the data to be erased and the data that stays.
function What({ by, value, told }: Review) {
  return (
    <>
      {told ? (
        <Facts
          of={[
            ['Lead', <code>{value}</code>],
            ['Received', <Time at={told.received_at} />],
            ['Campaign', told.campaign_id],
            ['Supplier', told.supplier_id],
            ['Status', <Status word={told.status} />],
            ['Buyer', told.buyer_id || '–'],
            ['Delivery', words(told.delivery)],
            ['Deleted before', told.erased ? 'yes' : 'no'],
          ]}
        />
      ) : (
        <p>
          Every lead in the log with the {names[by].toLowerCase()} <strong class="mono">{value}</strong>, in any
          spelling. The exchange reads the whole log for that: some minutes for ten million leads. It continues if you
          leave this page.
        </p>
      )}
      {told && <p>Other leads of the same person stay. Use the email or the phone number to delete all of them.</p>}
      <ul class="points">
        <li>
          <strong>Deleted:</strong> names, email, phone, street and city, IP address, proofs of consent, contact fields,
          and the requests to buyers.
        </li>
        <li>
          <strong>Kept:</strong> state, ZIP code, other fields of the campaign, prices, outcomes, statements.
        </li>
        <li>
          <strong>Not reached:</strong> data that buyers and suppliers have. Ask them to delete it too.
        </li>
      </ul>
      <p class="note warn">This cannot be undone. A backup keeps the keys until its own retention ends.</p>
    </>
  );
}

function Outcome({ of }: { of: Erased }) {
  const at = useRef<HTMLDivElement>(null);
  // A layout effect runs before the next frame. Closing the dialog returns the focus to a
  // disabled button, and a later effect would leave the page without focus for a moment.
  useLayoutEffect(() => at.current?.focus(), [of]);
  const none = of.erased === 0 && of.left === 0;
  return (
    <div ref={at} tabIndex={-1} class="outcome">
      <Card title="Result">
        <p class={`note ${none || of.left > 0 ? 'warn' : 'good'}`} role="status">
          {none
            ? 'No lead in the log has this value. Check the spelling.'
            : `Data of ${count(of.erased)} ${of.erased === 1 ? 'lead' : 'leads'} deleted, ${count(of.left)} left.`}
        </p>
        {of.left > 0 && (
          <Table
            caption="Leads that were not deleted"
            rows={of.left_leads}
            keyOf={(l) => l.lead_id}
            columns={[
              { head: 'Lead', of: (l) => <Id of="leads" id={l.lead_id} /> },
              { head: 'Reason and remedy', of: (l) => leftOf(l.reason) },
            ]}
          />
        )}
      </Card>
    </div>
  );
}
