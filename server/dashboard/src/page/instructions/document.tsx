import { bytes, count, duration, scalar } from '../../format';
import type { InstructionField, Instructions } from '../../instructions';
import { Table } from '../../part/table';
import { Address, Badge, Card, Copy, Facts, Lines } from '../../part/words';

const unknownMembers = {
  drop: 'The exchange ignores other members.',
  keep: 'The exchange passes other members on to the buyer.',
  reject: 'The exchange rejects a lead with other members.',
};

// InstructionsDocument shows posting instructions in the order of a first integration.
export function InstructionsDocument({ of }: { of: Instructions }) {
  return (
    <>
      <Access of={of} />
      <Card title="Requests">
        {of.requests.map((r) => (
          <section class="sample" aria-label={r.title}>
            <h3>{r.title}</h3>
            <p class="mono">
              {r.method} {r.url}
            </p>
            <Code text={r.curl} />
          </section>
        ))}
      </Card>
      <FieldTable of={of} />
      <Rules of={of} />
      <Answers of={of} />
    </>
  );
}

function Code({ text }: { text: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} />
    </div>
  );
}

function Access({ of }: { of: Instructions }) {
  const keys = of.api_key_hints.map((hint) => `${hint}…`).join(', ');
  return (
    <Card title="Address and credential">
      <Facts
        of={[
          [
            'Address',
            <code>
              <Address of={of.base_url} />
            </code>,
          ],
          ['Campaign', <code>{of.campaign.id}</code>],
          ['Supplier', <code>{of.supplier.id}</code>],
          [
            'Documentation',
            <a href={of.documentation_url}>
              <Address of={of.documentation_url} />
            </a>,
          ],
          ['API key, in the header x-api-key', keys || 'none yet'],
          ...of.oauth_clients.map((c): [string, string] => [
            'OAuth client',
            `${c.client_id} (secret ${c.secret_hint}…, scopes ${c.scopes.join(' ')})`,
          ]),
        ]}
      />
      {of.sandbox && <p class="note">This exchange is a sandbox: it sells no leads.</p>}
      {of.supplier.test && <p class="note">All leads of this supplier are test leads.</p>}
    </Card>
  );
}

const ruleOf = (f: InstructionField): string =>
  [f.rule, f.pattern && `pattern ${f.pattern}`, f.default !== null && `default ${scalar(f.default)}`]
    .filter(Boolean)
    .join('; ');

function FieldTable({ of }: { of: Instructions }) {
  return (
    <Card title="Fields">
      <Table
        caption="Fields"
        rows={[...of.selectors, ...of.fields]}
        keyOf={(f) => f.name}
        columns={[
          { head: 'Field', of: (f) => <code class="whole">{f.name}</code> },
          { head: 'Type', of: (f) => f.type },
          { head: 'Required', phone: 'side', of: (f) => (f.required ? 'required' : 'optional') },
          ...(of.campaign.ping_post
            ? [{ head: 'In ping', of: (f: InstructionField) => (f.in_ping ? 'yes' : 'no') }]
            : []),
          { head: 'Rule', of: ruleOf },
          { head: 'Example', of: (f) => (f.example === null ? '–' : <code>{scalar(f.example)}</code>) },
        ]}
      />
      <p class="faint">{unknownMembers[of.unknown_members]}</p>
    </Card>
  );
}

const size = (n: number): string => (n < 1000 ? bytes(n) : `${bytes(n)} (${count(n)} bytes)`);

function Rules({ of }: { of: Instructions }) {
  const { consent, duplicates, limits } = of;
  const same = duplicates.fields.join(duplicates.all_must_match ? ' and ' : ' or ');
  return (
    <Card title="Rules and limits">
      <Facts
        of={[
          ['Sources that need a consent certificate', consent.required_for_sources.join(', ') || 'none'],
          ['Accepted hosts of certificates', consent.accepted_hosts.join(', ') || 'all'],
          [
            'Duplicates',
            duplicates.window
              ? `the same ${same} within ${duration(duplicates.window)}${duplicates.shared ? ', also in other campaigns' : ''}`
              : 'not checked',
          ],
          ['Leads a second', count(limits.ingests_per_second)],
          ...(of.campaign.ping_post
            ? ([
                ['Pings a second', count(limits.pings_per_second)],
                ['Open auctions at once', count(limits.concurrent_auctions)],
              ] as [string, string][])
            : []),
          ['Size of a request', size(limits.body_bytes)],
          ['Size of all requests in a second', size(limits.body_bytes_per_second)],
          [
            'Repeats',
            <Lines
              of={Object.entries(of.retention).map(([path, time]) => (
                <>
                  <code>{path}</code>: the same Idempotency-Key is recognized for {duration(time)}
                </>
              ))}
            />,
          ],
        ]}
      />
    </Card>
  );
}

function Answers({ of }: { of: Instructions }) {
  return (
    <Card title="Answers and errors">
      {of.answers.map((a) => (
        <details class="fold">
          <summary>
            {a.title} <Badge tone={a.status < 300 ? 'good' : 'warn'}>{a.status}</Badge>
          </summary>
          <p>{a.meaning}</p>
          <Code text={a.body} />
        </details>
      ))}
      <Table
        caption="Errors"
        rows={of.response_codes}
        keyOf={(c) => `${c.status} ${c.code}`}
        columns={[
          { head: 'Error', of: (c) => <code class="whole">{c.code}</code> },
          { head: 'Status', phone: 'side', of: (c) => c.status },
          { head: 'Retry automatically', of: (c) => (c.retry ? 'yes' : 'no') },
          { head: 'Remedy', of: (c) => c.do },
        ]}
      />
    </Card>
  );
}
