// The present alerts, which the header and Home show.

import { useEffect } from 'preact/hooks';
import type { AlertStatus } from './alerts';
import { useLoad } from './load';

const interval = 15_000; // the exchange evaluates its rules as often

// useAlerts reads the alerts again and again, and at once after an action that decides one.
export function useAlerts(): AlertStatus | undefined {
  const { data, reload } = useLoad<AlertStatus>('alerts');
  useEffect(() => {
    const timer = setInterval(reload, interval);
    addEventListener('decided', reload);
    return () => {
      clearInterval(timer);
      removeEventListener('decided', reload);
    };
  }, []);
  return data;
}
