import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

// Dialog covers the page until the user closes it, also by Escape.
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const at = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = at.current;
    dialog?.showModal();
    return () => dialog?.close(); // the browser returns the focus to the element that had it
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
