import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

// Dialog stands over the page until it is closed, by Escape too.
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const at = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = at.current;
    dialog?.showModal();
    return () => dialog?.close(); // which gives the focus back to where it was
  }, []);
  return (
    <dialog
      ref={at}
      aria-labelledby={id}
      onCancel={(e) => {
        e.preventDefault();
        close();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
