import { useState } from 'preact/hooks';

// Draft is an input that keeps the typed text until the user leaves it. Only then it reports the
// value, so the page can rewrite it, for example as a list.
export function Draft({
  value,
  set,
  ...rest
}: {
  value: string;
  set: (value: string) => void;
  id?: string;
  class?: string;
  placeholder?: string;
  disabled?: boolean;
  'aria-label'?: string;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
  'aria-required'?: boolean;
}) {
  const [text, type] = useState<string | undefined>();
  return (
    <input
      {...rest}
      autocomplete="off"
      spellcheck={false}
      value={text ?? value}
      onInput={(e) => type(e.currentTarget.value)}
      onChange={(e) => {
        type(undefined);
        set(e.currentTarget.value);
      }}
    />
  );
}
