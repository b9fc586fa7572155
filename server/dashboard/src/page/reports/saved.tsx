import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { useLoad } from '../../load';
import { Act, Button } from '../../part/button';
import { say } from '../../part/notice';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Time } from '../../part/words';
import { to } from '../../route';
import { addressOf, contentOf, type SavedList, type SavedReport, scheduleOf, stateOf } from '../../saved';
import { may, useSession } from '../../session';
import { ReportForm } from './save';

// SavedTab lists the saved reports, with their schedules and the state of their e-mails.
export function SavedTab() {
  const found = useLoad<SavedList>('saved-reports');
  return <Loaded of={found}>{(list) => <Reports of={list} done={found.reload} />}</Loaded>;
}

function Reports({ of, done }: { of: SavedList; done: () => void }) {
  const operator = may(useSession().role, 'operator');
  const [edited, edit] = useState<SavedReport | undefined>();
  const reports = of.saved_reports;
  const needsChannel = of.channel === null && reports.some((r) => r.schedule);
  return (
    <Card title="Saved reports">
      {needsChannel && (
        <p class="note bad">
          No email can be sent: there is no email channel that is on.{' '}
          <a href={to(['settings', 'alerts'])}>Add one under Alerts.</a>
        </p>
      )}
      {reports.length === 0 ? (
        <Empty title="No saved reports">
          Choose a report on another tab, and select Save beside its exports. It can then be sent by email.
        </Empty>
      ) : (
        <Table
          caption="Saved reports"
          rows={reports}
          keyOf={(r) => r.id}
          columns={[
            {
              head: 'Report',
              of: (r) => (
                <>
                  <a class="ref" href={to(['reports', 'custom'], addressOf(r.query))}>
                    {r.name}
                  </a>{' '}
                  <small class="phone-none">{contentOf(r.query)}</small>
                </>
              ),
              wide: true,
              sort: (r) => r.name,
            },
            { head: 'State', phone: 'side', of: (r) => <Badge tone={stateOf(r).tone}>{stateOf(r).word}</Badge> },
            {
              head: 'Schedule',
              wide: true,
              phone: 'plain',
              of: (r) => (
                <>
                  {scheduleOf(r.schedule)} <small class="phone-none">{r.schedule?.recipients.join(', ')}</small>
                </>
              ),
            },
            { head: 'Next', phone: 'none', of: (r) => <Time at={r.mail.next_at} />, sort: (r) => r.mail.next_at },
            {
              head: 'Last sent',
              of: (r) => <Time at={r.mail.last_sent_at} />,
              sort: (r) => r.mail.last_sent_at,
              phone: 'none',
            },
            { head: 'Last error', of: (r) => stateOf(r).text || <span class="faint dash">–</span> },
            ...(operator
              ? [
                  {
                    head: 'Action',
                    phone: 'menu' as const,
                    of: (r: SavedReport) => <Actions of={r} edit={() => edit(r)} done={done} />,
                  },
                ]
              : []),
          ]}
        />
      )}
      {edited && (
        <ReportForm
          report={edited}
          first={edited}
          close={() => {
            edit(undefined);
            done(); // another operator may have changed it
          }}
          done={() => {
            edit(undefined);
            done();
          }}
        />
      )}
    </Card>
  );
}

function Actions({ of, edit, done }: { of: SavedReport; edit: () => void; done: () => void }) {
  const [wrong, tell] = useState('');
  const path = `saved-reports/${part(of.id)}`;
  const send = async () => {
    tell('');
    const result = await call<{ sent: boolean; error: string | null }>('POST', `${path}/send`);
    if (!result.sent) tell(`It was not sent: ${result.error ?? 'the mail server did not accept it'}`);
    else if (result.error) tell(`It was sent, but not to all recipients: ${result.error}`);
    else say(`${of.name} is sent.`);
    done();
  };
  return (
    <>
      <div class="row">
        <Act
          needs="operator"
          tone="quiet"
          label={`Send now: ${of.name}`}
          off={of.schedule ? undefined : 'It has no recipients'}
          run={send}
        >
          Send now
        </Act>
        <Button tone="quiet" label={`Edit ${of.name}`} onClick={edit}>
          Edit
        </Button>
        <Act
          needs="operator"
          tone="danger"
          label={`Delete ${of.name}`}
          sure={{ title: `Delete ${of.name}?`, text: <p>It is no longer sent.</p> }}
          run={async () => {
            await call('DELETE', path, { headers: { 'If-Match': of.etag } });
            done();
          }}
          done={`${of.name} is deleted.`}
        >
          Delete
        </Act>
      </div>
      {wrong && (
        <p class="note bad" role="alert">
          {wrong}
        </p>
      )}
    </>
  );
}
