import { useState } from 'preact/hooks';
import { call, type Failure, part, type Query } from '../../call';
import { asFailure } from '../../load';
import { Act, Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import { Input, Select } from '../../part/field';
import { say } from '../../part/notice';
import { Wrong } from '../../part/wrong';
import {
  contentOf,
  type Frequency,
  periods,
  queryOf,
  type SavedDocument,
  type SavedReport,
  weekdays,
} from '../../saved';
import { useWorkspace } from '../../workspace';

// SaveReport saves the report on the page under a name. asked are its parameters.
export function SaveReport({ asked, preset }: { asked: Query; preset?: string }) {
  const space = useWorkspace();
  const [open, show] = useState(false);
  const query = queryOf(asked, preset || space.preset);
  return (
    <>
      <Act needs="operator" tone="quiet" label="Save this report" run={async () => show(true)}>
        Save
      </Act>
      {open && (
        <ReportForm first={{ name: '', query, schedule: null }} close={() => show(false)} done={() => show(false)} />
      )}
    </>
  );
}

// Typed is the input of the schedule's fields. An empty frequency is no schedule.
interface Typed {
  frequency: Frequency | '';
  weekday: string;
  day: string;
  time: string;
  recipients: string;
}

function documentOf(name: string, query: SavedDocument['query'], typed: Typed): SavedDocument {
  const { frequency } = typed;
  return {
    name: name.trim(),
    query,
    schedule: frequency
      ? {
          frequency,
          ...(frequency === 'weekly' && { weekday: typed.weekday }),
          ...(frequency === 'monthly' && { day: Number(typed.day) }),
          time: typed.time,
          recipients: typed.recipients.split(/[\s,;]+/).filter(Boolean),
        }
      : null,
  };
}

// ReportForm edits a saved report, or adds one. A change by another operator meanwhile is an error
// with its text; the input stays.
export function ReportForm({
  report,
  first,
  close,
  done,
}: {
  report?: SavedReport; // undefined: a new one
  first: SavedDocument;
  close: () => void;
  done: (saved: SavedReport) => void;
}) {
  const space = useWorkspace();
  const [name, rename] = useState(first.name);
  const [period, choose] = useState(first.query.period);
  const [typed, type] = useState<Typed>({
    frequency: first.schedule?.frequency ?? '',
    weekday: first.schedule?.weekday ?? 'monday',
    day: String(first.schedule?.day ?? 1),
    time: first.schedule?.time ?? '08:00',
    recipients: first.schedule?.recipients.join(', ') ?? '',
  });
  const [failure, fail] = useState<Failure | undefined>();
  const set = (name: keyof Typed) => (value: string) => type({ ...typed, [name]: value });
  const errors = (...fields: string[]) =>
    failure?.fields.filter((f) => fields.includes(f.field.replace(/\[.*/, ''))) ?? [];
  const store = async () => {
    fail(undefined);
    const body = documentOf(name, { ...first.query, period }, typed);
    try {
      const saved = report
        ? await call<SavedReport>('PUT', `saved-reports/${part(report.id)}`, {
            body,
            headers: { 'If-Match': report.etag },
          })
        : await call<SavedReport>('POST', 'saved-reports', { body });
      say(`${saved.name} is saved.`);
      done(saved);
    } catch (problem) {
      fail(asFailure(problem));
    }
  };
  return (
    <Dialog title={report ? `Edit ${report.name}` : 'Save report'} close={close}>
      <p class="faint">{contentOf({ ...first.query, period })}</p>
      <div class="fields">
        <Input label="Name" required value={name} set={rename} errors={errors('name')} />
        <Select
          label="Period"
          value={period}
          set={choose}
          options={periods}
          help="at the time of sending"
          errors={errors('query.period')}
        />
        <Select
          label="Send by email"
          value={typed.frequency}
          set={set('frequency')}
          any="Not sent"
          options={[
            ['daily', 'Each day'],
            ['weekly', 'Each week'],
            ['monthly', 'Each month'],
          ]}
        />
        {typed.frequency === 'weekly' && (
          <Select label="Weekday" value={typed.weekday} set={set('weekday')} options={weekdays} />
        )}
        {typed.frequency === 'monthly' && (
          <Input
            label="Day of the month"
            type="number"
            value={typed.day}
            set={set('day')}
            help="in a shorter month its last day"
            errors={errors('schedule.day')}
          />
        )}
        {typed.frequency && (
          <>
            <Input
              label="Time"
              type="time"
              value={typed.time}
              set={set('time')}
              help={`time zone ${space.exchangeZone}`}
              errors={errors('schedule.time')}
            />
            <Input
              label="Recipients"
              required
              value={typed.recipients}
              set={set('recipients')}
              help="email addresses, separated by commas"
              errors={errors('schedule.recipients')}
            />
          </>
        )}
      </div>
      <Wrong failure={failure} />
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Act needs="operator" tone="main" disabled={name.trim() === ''} run={store}>
          Save report
        </Act>
      </div>
    </Dialog>
  );
}
