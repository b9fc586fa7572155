import type { ComponentChildren } from 'preact';
import type { Alert } from '../../alerts';
import { instant, since } from '../../format';
import { Badge } from '../../part/words';

// Firing lists alerts with their numbers, the remedy, and a link to the page that helps.
export function Firing({ of, more }: { of: Alert[]; more?: (a: Alert) => ComponentChildren }) {
  return (
    <ul class="alerts">
      {of.map((a) => (
        <li key={`${a.rule} ${a.subject}`}>
          <p class="row">
            <strong>{a.title}</strong>
            {a.silenced && <Badge>silenced</Badge>}
            <span class="faint">for {since(a.since)}</span>
          </p>
          <p>{a.text}</p>
          {a.resolves_at ? (
            <p>
              The value is good again since {instant(a.good_since)}. The alert resolves at {instant(a.resolves_at)} if
              it stays so.
            </p>
          ) : (
            <p>
              <strong>What to do:</strong> {a.action}
            </p>
          )}
          <p class="row">
            {a.link.startsWith('#/') && (
              <a class="button" href={a.link} aria-label={`Open: ${a.title}`}>
                Open
              </a>
            )}
            {more?.(a)}
          </p>
        </li>
      ))}
    </ul>
  );
}
