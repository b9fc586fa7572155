import type { AlertStatus } from '../../alerts';
import { Card } from '../../part/words';
import { to } from '../../route';
import { Firing } from '../alerts/firing';

// HomeAlerts shows the alerts that fire, above all other figures. Without any, it shows nothing.
export function HomeAlerts({ of }: { of: AlertStatus | undefined }) {
  if (!of || of.firing.length === 0) return null;
  return (
    <Card title={`Alerts (${of.firing.length})`} side={<a href={to(['settings', 'alerts'])}>All alerts</a>}>
      <Firing of={of.firing} />
    </Card>
  );
}
