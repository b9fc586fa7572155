import { nameOf, useEntries } from '../entries';
import { millis, words } from '../format';
import { type Drawing, draw, type Lane, ticks } from '../timeline';
import type { Told } from '../types';
import { RuleText } from './rule';
import { Badge, SetName } from './words';

// Timeline draws each buyer as a bar: when it was asked, when it answered, and the verdict.
export function Timeline({ told }: { told: Told }) {
  const entries = useEntries();
  const drawing = draw(told, (buyer) => nameOf(entries, 'buyers', buyer));
  if (drawing.lanes.length === 0) return <p class="faint">No buyers pinged.</p>;
  return (
    <section class="timeline" aria-label="Timeline, by buyer">
      <Axis of={drawing} />
      <ol>
        {drawing.lanes.map((l) => (
          <LaneRow lane={l} end={drawing.end} marks={drawing} />
        ))}
      </ol>
    </section>
  );
}

const percent = (at: number, end: number): string => `${(at / end) * 100}%`;

function Axis({ of }: { of: Drawing }) {
  return (
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name" />
      <div class="lane-track">
        {ticks(of.end).map((at) => (
          <span class={`tick ${at > 0.8 * of.end ? 'last' : ''}`} style={{ left: percent(at, of.end) }}>
            {millis(at)}
          </span>
        ))}
      </div>
      <span class="lane-verdict" />
    </div>
  );
}

function LaneRow({ lane, end, marks }: { lane: Lane; end: number; marks: Drawing }) {
  const spoken = lane.parts.map((p) => `${p.kind === 'ask' ? 'ping' : 'post'} ${p.text}`).join('; ');
  return (
    <li class="lane">
      <span class="lane-name">
        <SetName of={{ buyer_id: lane.buyer, filter_set: lane.set }} />
      </span>
      <div class="lane-track" aria-hidden="true">
        {marks.marks.map((m) => (
          <span class={`mark ${m.text.replace(' ', '-')}`} style={{ left: percent(m.at, end) }} title={m.text} />
        ))}
        {lane.parts.map((p) => (
          <span
            class={`part ${p.kind} ${p.tone} ${p.open ? 'open' : ''}`}
            style={{ left: percent(p.from, end), width: `max(4px, ${percent(Math.max(0, p.until - p.from), end)})` }}
            title={p.text}
          />
        ))}
      </div>
      <span class="lane-verdict">
        <Badge tone={lane.tone}>{words(lane.outcome || 'posted')}</Badge>
        <span class="unseen">{spoken}</span>
        <small>{lane.says.join(' · ')}</small>
        {lane.rule && <RuleText of={lane.rule} />}
      </span>
    </li>
  );
}
