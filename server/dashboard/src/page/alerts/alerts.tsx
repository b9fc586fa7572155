import { useEffect, useState } from 'preact/hooks';
import type { Alert, AlertStatus, Channel, RuleList } from '../../alerts';
import { instant } from '../../format';
import { useLoad } from '../../load';
import { Act, Button } from '../../part/button';
import { Empty, Loaded } from '../../part/state';
import { Card } from '../../part/words';
import { Channels } from './channels';
import { Firing } from './firing';
import { History } from './history';
import { Rules } from './rules';
import { NewSilence, Silences } from './silences';

const interval = 15_000; // the exchange evaluates its rules as often

// AlertsTab shows the alerts that fire, and the rules, channels, silences and history.
export function AlertsTab() {
  const status = useLoad<AlertStatus>('alerts');
  const rules = useLoad<RuleList>('alerts/rules');
  const channels = useLoad<{ channels: Channel[] }>('alerts/channels');
  const [silencing, silence] = useState<Partial<Alert> | undefined>();
  useEffect(() => {
    const timer = setInterval(() => {
      status.reload();
      channels.reload();
    }, interval);
    return () => clearInterval(timer);
  }, []);
  const all = rules.data?.rules ?? [];
  return (
    <>
      <Loaded of={status}>{(of) => <Now of={of} silence={silence} />}</Loaded>
      <Loaded of={rules}>
        {(of) => <Rules of={of} channels={channels.data?.channels ?? []} done={rules.reload} />}
      </Loaded>
      <Loaded of={channels}>{(of) => <Channels of={of.channels} done={channels.reload} />}</Loaded>
      <Card
        title="Silences"
        side={
          <Act needs="operator" disabled={all.length === 0} run={async () => silence({})}>
            Add silence
          </Act>
        }
      >
        <Loaded of={status}>{(of) => <Silences of={of.silences} rules={all} done={status.reload} />}</Loaded>
      </Card>
      <History />
      {silencing && (
        <NewSilence
          rules={all}
          first={silencing}
          close={() => silence(undefined)}
          done={() => {
            silence(undefined);
            status.reload();
          }}
        />
      )}
    </>
  );
}

function Now({ of, silence }: { of: AlertStatus; silence: (a: Alert) => void }) {
  return (
    <Card
      title="Alerts now"
      side={
        <span class="faint">{of.evaluated_at ? `evaluated ${instant(of.evaluated_at)}` : 'not evaluated yet'}</span>
      }
    >
      {of.firing.length === 0 ? (
        <Empty title="No alert is firing" />
      ) : (
        <Firing
          of={of.firing}
          more={(a) =>
            !a.silenced && (
              <Button tone="quiet" label={`Silence: ${a.title}`} onClick={() => silence(a)}>
                Silence
              </Button>
            )
          }
        />
      )}
      {of.pending.length > 0 && (
        <ul class="points">
          {of.pending.map((p) => (
            <li>
              {p.title}: fires at {instant(p.fires_at)} if it stays so
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
