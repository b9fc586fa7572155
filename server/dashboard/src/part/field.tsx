import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { FieldError } from '../types';

// Labelled is an input with its label before it, and its help and errors after it.
export function Labelled({
  name,
  label,
  help,
  errors = [],
  required,
  children,
}: {
  name?: string; // of the field in field_errors, so that a link can focus it
  label: string;
  help?: ComponentChildren;
  errors?: FieldError[];
  required?: boolean;
  children: (of: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
    'aria-required'?: boolean;
  }) => ComponentChildren;
}) {
  const id = useId();
  const told = `${id}-told`;
  const wrong = errors.length > 0;
  return (
    <div class={`field ${wrong ? 'wrong' : ''}`} data-field={name}>
      <label for={id}>
        {label}
        {required && <span class="faint"> (required)</span>}
      </label>
      {children({
        id,
        'aria-describedby': help || wrong ? told : undefined,
        'aria-invalid': wrong || undefined,
        'aria-required': required || undefined,
      })}
      {(help || wrong) && (
        <div id={told}>
          {errors.map((e) => (
            <p class="error">{e.expected || e.code}</p>
          ))}
          {help && <p class="help">{help}</p>}
        </div>
      )}
    </div>
  );
}

interface Simple {
  name?: string;
  label: string;
  value: string;
  set: (value: string) => void;
  help?: ComponentChildren;
  errors?: FieldError[];
  required?: boolean;
  hint?: string;
  type?: string;
  auto?: string;
  disabled?: boolean;
  list?: string[]; // suggestions
}

export function Input({
  name,
  label,
  value,
  set,
  help,
  errors,
  required,
  hint,
  type = 'text',
  auto = 'off',
  disabled,
  list,
}: Simple) {
  const suggestions = useId();
  return (
    <Labelled name={name} label={label} help={help} errors={errors} required={required}>
      {(of) => (
        <>
          <input
            {...of}
            type={type}
            value={value}
            placeholder={hint}
            autocomplete={auto}
            spellcheck={false}
            disabled={disabled}
            list={list ? suggestions : undefined}
            onInput={(e) => set(e.currentTarget.value)}
          />
          {list && (
            <datalist id={suggestions}>
              {list.map((text) => (
                <option value={text} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Labelled>
  );
}

export function Select({
  name,
  label,
  value,
  set,
  options,
  any,
  help,
  errors,
  required,
  disabled,
}: Omit<Simple, 'hint' | 'type' | 'auto' | 'list'> & { options: (string | [string, string])[]; any?: string }) {
  return (
    <Labelled name={name} label={label} help={help} errors={errors} required={required}>
      {(of) => (
        <select {...of} value={value} disabled={disabled} onChange={(e) => set(e.currentTarget.value)}>
          {any !== undefined && <option value="">{any}</option>}
          {options.map((option) => {
            const [word, name] = typeof option === 'string' ? [option, option] : option;
            return <option value={word}>{name}</option>;
          })}
        </select>
      )}
    </Labelled>
  );
}

export function Check({
  label,
  value,
  set,
  help,
  disabled,
}: {
  label: string;
  value: boolean;
  set: (value: boolean) => void;
  help?: string;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="field check">
      <label>
        <input
          type="checkbox"
          checked={value}
          disabled={disabled}
          aria-describedby={help ? id : undefined}
          onChange={(e) => set(e.currentTarget.checked)}
        />
        {label}
      </label>
      {help && (
        <p class="help" id={id}>
          {help}
        </p>
      )}
    </div>
  );
}
