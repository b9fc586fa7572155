import { useRef, useState } from 'preact/hooks';
import { Button } from './button';
import { Dialog } from './dialog';

// Secret shows a secret that the exchange returns only once.
export function Secret({
  title,
  value,
  text,
  close,
}: {
  title: string;
  value: string;
  text: string;
  close: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [copied, set] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      set('Copied.');
    } catch {
      field.current?.select(); // browsers have no clipboard API over plain HTTP
      set('Press Ctrl+C to copy what is selected.');
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
      <p class="note warn">It is not shown again.</p>
      <div class="row end">
        <Button onClick={close}>I have it</Button>
      </div>
    </Dialog>
  );
}
