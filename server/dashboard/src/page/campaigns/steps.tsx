import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../../call';
import { documentOf, loadEntries, nameOf, useEntries } from '../../entries';
import { campaign } from '../../form/campaign';
import { type Editing, focusField } from '../../form/editor';
import { withExchangeZone } from '../../form/zone';
import { asFailure } from '../../load';
import { Act, Button } from '../../part/button';
import { say } from '../../part/notice';
import { Card, Heading } from '../../part/words';
import { go, to } from '../../route';
import { sentences } from '../../sentence';
import { useDenied } from '../../session';
import { slug } from '../../slug';
import type { Doc } from '../../types';
import { Errors, putEntry, useDefaults, useIds, useLeadFields } from '../entry/form';
import { savedText, Warnings } from '../entry/review';
import { Basics } from './basics';
import { BuyersStep } from './buyers-step';
import { FieldsStep } from './fields-step';
import { RulesStep } from './rules-step';
import { cloneOf } from './templates';

const names = ['Basics', 'Fields', 'Buyers', 'Rules', 'Review'];

// stepOf returns the step that has a field of the document.
function stepOf(field: string): number {
  const [first = ''] = field.split(/[.[]/);
  if (['fields', 'unknown'].includes(first)) return 1;
  if (first === 'buyers') return 2;
  const rules = ['schedule', 'filters', 'caps', 'suppression', 'duplicates', 'returns'];
  if (rules.includes(first) || first.startsWith('consent')) return 3;
  return 0;
}

// NewCampaign creates a campaign in steps. With from it starts with a copy of another one.
export function NewCampaign({ from }: { from: string }) {
  const entries = useEntries();
  const [document, set] = useState<Doc>(withExchangeZone({ method: 'waterfall' }));
  const [step, show] = useState(0);
  const [failure, fail] = useState<Failure | undefined>();
  const [warnings, warn] = useState<string[]>([]);
  const [wrong, find] = useState(''); // the field to focus in the present step
  const denied = useDenied('admin');
  const ids = useIds();
  const defaults = useDefaults('campaigns');
  const source = entries.campaigns?.find((c) => c.id === from)?.document;
  useEffect(() => {
    if (source) set(cloneOf(source));
  }, [source !== undefined]);
  useEffect(() => {
    if (wrong) focusField(wrong);
    find('');
  }, [wrong]);
  const fields = useLeadFields('campaigns', document);
  const id = String(document.id ?? slug('cmp_', String(document.name ?? '')));
  const body: Doc = { ...document, id };
  const form: Editing = {
    document,
    set,
    errors: failure?.fields ?? [],
    locked: denied !== '',
    fresh: true,
    ids,
    defaults,
    fields,
  };
  const check = async (save: boolean) => {
    fail(undefined);
    warn([]);
    try {
      const applied = await putEntry('campaigns', id, body, undefined, !save);
      if (!save) return warn(applied.warnings);
      loadEntries();
      say(savedText(id, applied.warnings));
      go(['campaigns', id]);
    } catch (problem) {
      fail(asFailure(problem));
    }
  };
  const move = (next: number) => {
    show(next);
    if (next === names.length - 1 && id !== '') void check(false);
  };
  return (
    <>
      <p class="crumbs">
        <a href={to(['campaigns'])}>Campaigns</a>
      </p>
      <Heading title={from ? `New campaign from ${nameOf(entries, 'campaigns', from)}` : 'New campaign'} />
      {denied && <p class="note">{denied}</p>}
      <ol class="stepper">
        {names.map((name, i) => (
          <li>
            <button type="button" aria-current={i === step ? 'step' : undefined} onClick={() => move(i)}>
              <span class="step-mark" aria-hidden="true">
                {i + 1}
              </span>
              {name}
              {failure?.fields.some((f) => stepOf(f.field) === i) && <span class="error"> has an error</span>}
            </button>
          </li>
        ))}
      </ol>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (step < names.length - 1) move(step + 1);
        }}
      >
        {step === 0 && <Basics form={form} id={id} />}
        {step === 1 && <FieldsStep form={form} />}
        {step === 2 && <BuyersStep form={form} />}
        {step === 3 && <RulesStep form={form} />}
        {step === 4 && (
          <Card title="Review">
            <Errors failure={failure} specs={campaign} />
            {failure?.fields.map((f) => (
              <p>
                <Button
                  tone="quiet"
                  onClick={() => {
                    show(stepOf(f.field));
                    find(f.field);
                  }}
                >
                  Go to {names[stepOf(f.field)]}
                </Button>
              </p>
            ))}
            <ul class="points review">
              {sentences(
                { ...defaults, ...body },
                (kind, one) => nameOf(entries, kind, one),
                (buyer) => documentOf(entries, 'buyers', buyer),
              ).map((s) => (
                <li>{s}</li>
              ))}
            </ul>
            <Warnings of={warnings} />
          </Card>
        )}
        <div class="row end sticky">
          {step > 0 && <Button onClick={() => show(step - 1)}>Back</Button>}
          {step < names.length - 1 ? (
            <Button type="submit" tone="main" disabled={id === ''}>
              Next
            </Button>
          ) : (
            <Act needs="admin" tone="main" disabled={id === ''} run={() => check(true)}>
              Create campaign
            </Act>
          )}
        </div>
      </form>
    </>
  );
}
