import type { ComponentChildren, Ref } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Failure } from '../call';
import { asFailure } from '../load';
import { useDenied } from '../session';
import type { Role } from '../types';
import { Dialog } from './dialog';
import { say } from './notice';
import { Wrong } from './wrong';

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

// passFocusOn moves the focus to an enclosing element if the focused button is about to be
// removed, for example with its row. It does nothing if the replacement has taken the focus.
function passFocusOn(button: HTMLElement | null): void {
  if (!button?.contains(document.activeElement)) return;
  const around = [button.closest<HTMLElement>('.table'), document.querySelector<HTMLElement>('#main h1')];
  setTimeout(() => {
    if (document.activeElement !== document.body) return;
    around.find((e) => e?.isConnected)?.focus({ preventScroll: true });
  });
}

// usePassedFocus calls passFocusOn before the element of the returned reference is removed.
export function usePassedFocus(): Ref<HTMLSpanElement> {
  const at = useRef<HTMLSpanElement>(null);
  useEffect(() => () => passFocusOn(at.current), []);
  return at;
}

// Act is a button that starts an action. It is disabled, with the reason, if the role does not
// allow the action. It shows the error of a failed action.
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
  sure?: Sure; // confirmation before the action
  done?: string; // notice after success
  off?: string; // reason why the action is not available now
}) {
  const denied = useDenied(needs) || off || '';
  const id = useId();
  const [busy, work] = useState(false);
  const [asking, ask] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const at = usePassedFocus();
  // During the action the button keeps the focus and ignores further clicks.
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
