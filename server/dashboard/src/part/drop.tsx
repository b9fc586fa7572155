import { useRef, useState } from 'preact/hooks';

// DropZone takes a file by drag and drop or by a file dialog.
export function DropZone({
  label,
  text,
  accept,
  disabled,
  take,
}: {
  label: string;
  text: string;
  accept: string;
  disabled: boolean;
  take: (file: File) => void;
}) {
  const [over, set] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    <label
      class={`drop-zone ${over ? 'over' : ''} ${disabled ? 'off' : ''}`}
      onDragOver={(e) => {
        e.preventDefault();
        set(!disabled);
      }}
      onDragLeave={() => set(false)}
      onDrop={(e) => {
        e.preventDefault();
        set(false);
        const file = e.dataTransfer?.files[0];
        if (file && !disabled) take(file);
      }}
    >
      <span>{text}</span>
      <input
        ref={input}
        type="file"
        aria-label={label}
        accept={accept}
        disabled={disabled}
        onChange={(e) => {
          const file = e.currentTarget.files?.[0];
          if (file) take(file);
          if (input.current) input.current.value = ''; // the same file can be chosen again
        }}
      />
    </label>
  );
}
