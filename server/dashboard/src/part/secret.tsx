import { useRef, useState } from 'preact/hooks';
import { Button } from './button';
import { Dialog } from './dialog';

// Secret shows a secret that the exchange returns only once.
export function Secret({
  title,
  value,
  text,
  close,
  next,
}: {
  title: string;
  value: string;
  text: string;
  close: () => void;
  next?: { name: string; run: () => void }; // a further step, beside Done
}) {
  const field = useRef<HTMLInputElement>(null);
  const [copied, set] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      set('Copied.');
    } catch {
      field.current?.select(); // browsers have no clipboard API over plain HTTP
      set('Press Ctrl+C to copy the selection.');
    }
  };
  return (
    <Dialog title={title} close={close}>
      <p>{text}</p>
      <div class="row">
        <input
          ref={field}
          class="grow mono"
          readOnly
          value={value}
          aria-label={title}
          onFocus={(e) => e.currentTarget.select()}
        />
        <Button tone="main" onClick={copy}>
          Copy
        </Button>
      </div>
      <p role="status">{copied}</p>
      <p class="note warn">Copy it now. It is shown once.</p>
      <div class="row end">
        {next && <Button onClick={next.run}>{next.name}</Button>}
        <Button onClick={close}>Done</Button>
      </div>
    </Dialog>
  );
}
