import { useEntries } from '../entries';
import { words } from '../format';
import { ruleText } from '../reason';
import { to } from '../route';
import type { Rule } from '../types';
import { Gauge } from './gauge';
import { NamedRef, Time } from './words';

const bases = { reconstructed: 'worked out from the log', unknown: 'no longer known' };

// numberOf reads an amount such as 12.50 USD.
const numberOf = (text: string): number => Number.parseFloat(text.replace(/,/g, ''));

// RuleText shows a rule in one line, with exact amounts, because a cent can decide. The earlier lead and the suppression list are links, and a cap
// has a gauge.
export function RuleText({ of }: { of: Rule }) {
  const used = numberOf(of.cap?.used ?? '');
  return (
    <div class="rule">
      <span>
        <Linked text={ruleText(of)} rule={of} />
        {of.basis && <small class="faint"> ({bases[of.basis]})</small>}
      </span>
      {of.cap && !Number.isNaN(used) && (
        <Gauge
          small
          name={`use of the cap, ${words(of.cap.unit)}`}
          cap={{
            unit: of.cap.unit,
            limit: numberOf(of.cap.limit),
            used,
            held: 0,
            currency: /[A-Z]{3}$/.exec(of.cap.limit)?.[0],
          }}
        />
      )}
    </div>
  );
}

const kinds = { buyer: 'buyers', campaign: 'campaigns' } as const;

// Named shows the text with the names of the buyers and campaigns whose ids are in it.
function Named({ text }: { text: string }) {
  const entries = useEntries();
  const parts = text.split(/\b(buyer|campaign) ([\w-]+(?:\.[\w-]+)*)/);
  return (
    <>
      {parts.map((part, i) => {
        if (i % 3 !== 2) return i % 3 === 1 ? `${part} ` : part;
        const kind = kinds[parts[i - 1] as keyof typeof kinds];
        return entries[kind]?.some((e) => e.id === part) ? <NamedRef of={kind} id={part} /> : part;
      })}
    </>
  );
}

// Linked shows the text with the id in it as a link. If the text lacks the id, the link follows it.
function Linked({ text, rule }: { text: string; rule: Rule }) {
  const id = rule.lead_id ?? rule.list_id;
  if (!id) return <Named text={text} />;
  const href = to(rule.lead_id ? ['leads', id] : ['compliance', 'suppression', id]);
  const link = (
    <a class="ref" href={href}>
      {id}
    </a>
  );
  const at = text.lastIndexOf(id);
  if (at < 0) {
    return (
      <>
        <Named text={text} />: {link} {rule.lead_id && rule.at && <Time at={rule.at} />}
      </>
    );
  }
  return (
    <>
      <Named text={text.slice(0, at)} />
      {link}
      <Named text={text.slice(at + id.length)} />
    </>
  );
}
