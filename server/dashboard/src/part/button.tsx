import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Failure } from '../call';
import { asFailure } from '../load';
import { useDenied } from '../session';
import type { Role } from '../types';
import { Dialog } from './dialog';
import { say } from './notice';
import { Wrong } from './state';

interface Plain {
  children: ComponentChildren;
  onClick?: () => void;
  type?: 'button' | 'submit';
  tone?: 'main' | 'danger' | 'quiet';
  disabled?: boolean;
  label?: string;
  describedBy?: string;
  busy?: boolean;
}

export function Button({ children, type = 'button', tone, label, describedBy, busy, ...rest }: Plain) {
  return (
    <button
      type={type}
      class={`button ${tone ?? ''}`}
      aria-label={label}
      aria-describedby={describedBy}
      aria-busy={busy}
      {...rest}
    >
      {children}
    </button>
  );
}

export interface Sure {
  title: string;
  text: ComponentChildren;
}

// handOn gives the focus to what stands around a button that goes with it, as when its row is
// removed. What is put in its place may have taken it by then.
function handOn(button: HTMLElement | null): void {
  if (!button?.contains(document.activeElement)) return;
  const around = [button.closest<HTMLElement>('.table'), document.querySelector<HTMLElement>('#main h1')];
  setTimeout(() => {
    if (document.activeElement !== document.body) return;
    around.find((e) => e?.isConnected)?.focus({ preventScroll: true });
  });
}

// Act is a button that orders something. Where the role does not allow it, it is disabled
// and says why; where the order fails it says so, in its place.
export function Act({
  needs,
  run,
  sure,
  done,
  off,
  ...rest
}: Omit<Plain, 'onClick' | 'describedBy' | 'busy' | 'type'> & {
  needs: Role;
  run: () => Promise<unknown>;
  sure?: Sure; // asked for first
  done?: string; // said when it is done
  off?: string; // why it cannot be done now
}) {
  const denied = useDenied(needs) || off || '';
  const id = useId();
  const [busy, work] = useState(false);
  const [asking, ask] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const at = useRef<HTMLSpanElement>(null);
  useEffect(() => () => handOn(at.current), []);
  // While it is under way the button keeps the focus, and takes no second click.
  const start = async () => {
    if (busy) return;
    work(true);
    fail(undefined);
    try {
      await run();
      ask(false);
      if (done) say(done);
    } catch (problem) {
      fail(asFailure(problem));
    } finally {
      work(false);
    }
  };
  return (
    <span class="act" ref={at}>
      <Button
        {...rest}
        disabled={denied !== '' || rest.disabled}
        busy={busy}
        describedBy={denied ? id : undefined}
        onClick={sure ? () => ask(true) : start}
      >
        {rest.children}
      </Button>
      {denied && (
        <small class="why" id={id}>
          {denied}
        </small>
      )}
      {!asking && <Wrong failure={failure} />}
      {asking && sure && (
        <Dialog title={sure.title} close={() => ask(false)}>
          <div>{sure.text}</div>
          <Wrong failure={failure} />
          <div class="row end">
            <Button onClick={() => ask(false)}>Cancel</Button>
            <Button tone={rest.tone === 'danger' ? 'danger' : 'main'} onClick={start} busy={busy}>
              {rest.children}
            </Button>
          </div>
        </Dialog>
      )}
    </span>
  );
}
