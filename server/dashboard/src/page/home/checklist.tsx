import { useEntries } from '../../entries';
import { useLoad } from '../../load';
import { to } from '../../route';

export interface Step {
  name: string;
  text: string;
  done: boolean;
  href: string;
}

// useSetup returns the steps to the first live lead, or nothing while they are not known.
export function useSetup(): Step[] | undefined {
  const entries = useEntries();
  const tests = useLoad<{ leads: unknown[] }>('leads', { test: 'true', limit: 1 });
  const live = useLoad<{ leads: unknown[] }>('leads', { test: 'false', limit: 1 });
  const { buyers, suppliers, campaigns } = entries;
  if (!buyers || !suppliers || !campaigns || !live.data || !tests.data) return undefined;
  const sold = live.data.leads.length > 0;
  return [
    {
      name: 'Add a buyer',
      text: 'A company that buys leads, with the address that receives them.',
      done: buyers.length > 0,
      href: to(['buyers', '+']),
    },
    {
      name: 'Add a supplier',
      text: 'A company that sends leads. It gets an API key.',
      done: suppliers.length > 0,
      href: to(['suppliers', '+']),
    },
    {
      name: 'Create a campaign',
      text: 'Fields, buyers and rules of one kind of lead.',
      done: campaigns.length > 0,
      href: to(['campaigns', '+']),
    },
    {
      name: 'Send a test lead',
      text: 'It takes no cap and no money, and shows the way of a lead.',
      done: tests.data.leads.length > 0 || sold,
      href: to(['test']),
    },
    {
      name: 'Go live',
      text: 'Give the supplier its key. The first live lead completes this list.',
      done: sold,
      href: to(['suppliers']),
    },
  ];
}

// Checklist leads a new exchange to its first live lead. It disappears with the last step.
export function Checklist({ of }: { of: Step[] | undefined }) {
  if (!of || of.every((s) => s.done)) return null;
  const next = of.findIndex((s) => !s.done);
  return (
    <section class="card" aria-label="Get started">
      <header>
        <h2>Get started</h2>
        <span class="faint">
          {of.filter((s) => s.done).length} of {of.length} done
        </span>
      </header>
      <ol class="steps">
        {of.map((s, i) => (
          <li class={s.done ? 'done' : i === next ? 'next' : ''}>
            <span class="step-mark" aria-hidden="true">
              {s.done ? '✓' : i + 1}
            </span>
            <div>
              <p>
                {s.done ? (
                  <>
                    {s.name} <span class="unseen">(done)</span>
                  </>
                ) : (
                  <a class={i === next ? 'button main' : 'plain'} href={s.href}>
                    {s.name}
                  </a>
                )}
              </p>
              <p class="faint">{s.text}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
