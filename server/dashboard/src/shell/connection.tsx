import { useEffect, useState } from 'preact/hooks';
import { get, lostSince, onReach } from '../call';
import { instant, span } from '../format';

const interval = 3000;

// ConnectionNote says since when the exchange cannot be reached, and tries again until it can.
export function ConnectionNote() {
  const [lost, set] = useState(lostSince());
  const [, tick] = useState(0);
  useEffect(() => {
    const forget = onReach(() => set(lostSince()));
    return () => void forget();
  }, []);
  useEffect(() => {
    if (lost === 0) return;
    const timer = setInterval(() => {
      tick((n) => n + 1);
      get('session').catch(() => undefined);
    }, interval);
    return () => clearInterval(timer);
  }, [lost]);
  if (lost === 0) return null;
  return (
    <p class="strip bad" role="status">
      No connection to the exchange since {instant(new Date(lost).toISOString()).slice(11)} (
      {span((Date.now() - lost) / 1000)}). Figures may be out of date. Trying again.
    </p>
  );
}
