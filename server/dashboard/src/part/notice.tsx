import { useEffect, useState } from 'preact/hooks';

// say shows a short notice at the bottom of the page and removes it after a while.
export function say(text: string): void {
  dispatchEvent(new CustomEvent('said', { detail: text }));
}

export function Notice() {
  const [text, set] = useState('');
  useEffect(() => {
    let timer = 0;
    const hear = (e: Event) => {
      set((e as CustomEvent<string>).detail);
      clearTimeout(timer);
      timer = window.setTimeout(() => set(''), Math.max(6000, 100 * (e as CustomEvent<string>).detail.length));
    };
    const forget = () => set(''); // it was for the user who has left
    addEventListener('said', hear);
    addEventListener('session-ended', forget);
    return () => {
      removeEventListener('said', hear);
      removeEventListener('session-ended', forget);
      clearTimeout(timer);
    };
  }, []);
  return (
    <div class="notice" role="status" aria-live="polite">
      {text && <p>{text}</p>}
    </div>
  );
}
