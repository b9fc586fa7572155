import { useEffect } from 'preact/hooks';
import { call } from '../../call';
import { count, span } from '../../format';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Empty, Loaded } from '../../part/state';
import { Badge, Card, Facts } from '../../part/words';
import type { Backup } from '../../types';

const interval = 10_000;

// BackupsTab shows how far the backup is behind the log.
export function BackupsTab() {
  const backup = useLoad<Backup>('backup');
  useEffect(() => {
    const timer = window.setInterval(backup.reload, interval);
    return () => clearInterval(timer);
  }, []);
  const none = backup.data && !backup.data.configured;
  return (
    <Card
      title="Backup"
      side={
        <Act
          needs="operator"
          off={none ? 'No backup is configured.' : undefined}
          run={() => call('POST', 'backup')}
          done="The backup has started."
        >
          Back up now
        </Act>
      }
    >
      <Loaded of={backup}>
        {(b) =>
          b.configured ? (
            <Facts
              of={[
                ['Status', b.last_error ? <Badge tone="bad">failing</Badge> : <Badge tone="good">working</Badge>],
                ['Backup', `${span(b.lag_s)} behind`],
                ['Shipped up to log entry', count(b.shipped_seq)],
                ['Last error', b.last_error ?? 'none'],
              ]}
            />
          ) : (
            <Empty title="No backup is configured">
              Start the exchange with <code>--backup-to</code>. It then ships its log to a second place all the time.
            </Empty>
          )
        }
      </Loaded>
    </Card>
  );
}
