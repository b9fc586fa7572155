import type { ComponentChildren } from 'preact';
import { currencyOfDocument, useEntries } from '../entries';
import { share } from '../format';
import { Button } from '../part/button';
import { Draft } from '../part/draft';
import { Check, Input, Labelled, Select } from '../part/field';
import type { Doc, FieldError, Kind } from '../types';
import { at, errorsAt, errorsWithin, isSet, nameOf, type Path, pathOf, put } from './document';
import { type Spec, specsFor } from './spec';
import { groupText, valueText } from './value';

export interface Editing {
  document: Doc;
  set: (document: Doc) => void;
  errors: FieldError[];
  locked: boolean; // read-only
  fresh: boolean; // a new item
  ids: { [kind in Kind]?: [string, string][] }; // ids with names
  defaults: Doc; // values in force for keys that the document leaves out
  fields: string[]; // names of lead fields, for filters
}

// inOne lists the kinds of lists that a single input edits.
const inOne = ['words', 'several', 'refs'];

// Fields renders the inputs of the specs for a path of the document.
export function Fields({ of, path, form }: { of: Spec[]; path: Path; form: Editing }) {
  return (
    <div class="fields">
      {specsFor(of, form.document).map((spec) => (
        <Field key={spec.key} spec={spec} path={[...path, spec.key]} form={form} />
      ))}
    </div>
  );
}

function Field({ spec, path, form }: { spec: Spec; path: Path; form: Editing }) {
  const value = at(form.document, path);
  const set = (v: unknown) => form.set(put(form.document, path, v));
  const otherwise = at(form.defaults, path);
  const entries = useEntries();
  const help = numberHelp(spec, value ?? otherwise, currencyOfDocument(form.document, entries));
  const text = spec.first && !form.fresh ? join(help, 'only the first value applies') : help;
  const common = {
    name: nameOf(path),
    label: spec.label,
    help: spec.docs ? <Documented help={text} page={spec.docs} /> : text,
    errors: inOne.includes(spec.kind) ? errorsWithin(form.errors, path) : errorsAt(form.errors, path),
    disabled: form.locked,
  };
  switch (spec.kind) {
    case 'text':
      return (
        <Input
          {...common}
          disabled={form.locked || (spec.fixed && !form.fresh)}
          hint={shown(otherwise) || spec.hint}
          required={spec.required}
          value={shown(value)}
          set={(v) => set(v === '' ? undefined : v)}
          list={spec.suggest ? form.fields : undefined}
        />
      );
    case 'number':
      return (
        <Input
          {...common}
          hint={shown(otherwise) || spec.hint}
          required={spec.required}
          value={shown(value)}
          set={(v) => set(numberOf(v))}
        />
      );
    case 'lines':
      return <Lines {...common} value={shown(value)} set={(v) => set(v === '' ? undefined : v)} />;
    case 'flag':
      return (
        <Check
          label={spec.label}
          help={text}
          disabled={form.locked}
          value={(value ?? otherwise ?? false) === true}
          set={(v) => set(v === (otherwise ?? false) ? undefined : v)}
        />
      );
    case 'choice':
      return (
        <Select
          {...common}
          required={spec.required}
          any={spec.required ? 'Choose' : anyOf(otherwise === undefined ? spec.otherwise : valueText(spec, otherwise))}
          options={spec.options.map((o): [string, string] => [o, valueText(spec, o)])}
          value={shown(value)}
          set={(v) => set(v === '' ? undefined : v)}
        />
      );
    case 'words':
      return <WordsInput {...common} hint={spec.hint} value={value} set={set} />;
    case 'several':
      return (
        <Some
          {...common}
          help={otherwise ? join(text, `default: ${listOf(otherwise).join(', ')}`) : common.help}
          options={spec.options.map((o): [string, string] => [o, o])}
          value={listOf(value)}
          set={set}
        />
      );
    case 'refs':
      return (
        <Some {...common} options={withMissing(form.ids[spec.of], listOf(value))} value={listOf(value)} set={set} />
      );
    case 'ref':
      return (
        <Select
          {...common}
          required={spec.required}
          any="Choose"
          options={withMissing(form.ids[spec.of], value ? [String(value)] : [])}
          value={shown(value)}
          set={(v) => set(v === '' ? undefined : v)}
        />
      );
    case 'secret':
      return (
        <Input
          {...common}
          type="password"
          auto="new-password"
          hint={isSet(value) ? 'set' : ''}
          value={typeof value === 'string' ? value : ''}
          set={(v) => set(v === '' ? undefined : v)}
        />
      );
    case 'group':
      return (
        <Fold spec={spec} path={path} form={form} filled={value !== undefined}>
          <Fields of={spec.of} path={path} form={form} />
        </Fold>
      );
    case 'list':
      return (
        <Fold spec={spec} path={path} form={form} filled={listOf(value).length > 0} count={listOf(value).length}>
          <Entries spec={spec} path={path} form={form} />
        </Fold>
      );
  }
}

// numberHelp adds the currency of an amount, and the percents of a share, to the help of a field.
export function numberHelp(spec: Spec, value: unknown, currency: string): string | undefined {
  if (spec.kind !== 'number') return spec.help;
  if (spec.unit === 'money') return join(currency && `in ${currency}`, spec.help);
  return spec.part && typeof value === 'number' ? join(spec.help, `${value} is ${share(value)}`) : spec.help;
}

// Documented is a field's help with a link to a page of the documentation.
function Documented({ help, page }: { help?: string; page: string }) {
  return (
    <>
      {help}:{' '}
      <a href={`/help/docs/${page}`} target="_blank" rel="noreferrer">
        documentation of {page}
      </a>
    </>
  );
}

// Fold holds rarely used fields. It is open if a field has a value or an error.
function Fold({
  spec,
  path,
  form,
  filled,
  count,
  children,
}: {
  spec: Spec;
  path: Path;
  form: Editing;
  filled: boolean;
  count?: number;
  children: ComponentChildren;
}) {
  const own = errorsAt(form.errors, path);
  const wrong = form.errors.some(
    (e) => e.field === nameOf(path) || e.field.startsWith(`${nameOf(path)}.`) || e.field.startsWith(`${nameOf(path)}[`),
  );
  const open = wrong || (filled && path.length === 1);
  const otherwise = spec.kind === 'group' ? groupText(spec.of, at(form.defaults, path)) : '';
  return (
    <details class="fold" open={open} data-field={nameOf(path)}>
      <summary>
        {spec.label}
        {count ? (
          <span class="faint"> ({count})</span>
        ) : filled ? (
          ''
        ) : (
          <span class="faint"> ({otherwise ? `default: ${otherwise}` : 'none'})</span>
        )}
        {wrong && <span class="error"> has an error</span>}
      </summary>
      {own.map((e) => (
        <p class="error">{e.expected}</p>
      ))}
      {spec.help && (
        <p class="help">{spec.first && !form.fresh ? join(spec.help, 'only the first value applies') : spec.help}</p>
      )}
      {children}
    </details>
  );
}

const anyOf = (otherwise: string | undefined): string => (otherwise ? `${otherwise} (default)` : '');

function Entries({ spec, path, form }: { spec: Extract<Spec, { kind: 'list' }>; path: Path; form: Editing }) {
  const value = at(form.document, path);
  const list = Array.isArray(value) ? (value as Doc[]) : [];
  const set = (v: Doc[]) => form.set(put(form.document, path, v.length > 0 ? v : undefined));
  const move = (from: number, by: number) => {
    const moved = [...list];
    const [entry] = moved.splice(from, 1);
    if (entry) moved.splice(from + by, 0, entry);
    set(moved);
  };
  return (
    <>
      {list.map((_, i) => (
        <fieldset class="entry">
          <legend>
            {spec.one} {i + 1}
          </legend>
          {errorsAt(form.errors, [...path, i]).map((e) => (
            <p class="error">{e.expected}</p>
          ))}
          <Fields of={spec.of} path={[...path, i]} form={form} />
          {!form.locked && (
            <div class="row end">
              <Button
                tone="quiet"
                label={`Move ${spec.one} ${i + 1} up`}
                disabled={i === 0}
                onClick={() => move(i, -1)}
              >
                Up
              </Button>
              <Button
                tone="quiet"
                label={`Move ${spec.one} ${i + 1} down`}
                disabled={i === list.length - 1}
                onClick={() => move(i, 1)}
              >
                Down
              </Button>
              <Button
                tone="quiet"
                label={`Remove ${spec.one} ${i + 1}`}
                onClick={() => set(list.filter((_, j) => j !== i))}
              >
                Remove
              </Button>
            </div>
          )}
        </fieldset>
      ))}
      {!form.locked && (
        <Button tone="quiet" onClick={() => set([...list, spec.fresh()])}>
          Add a {spec.one}
        </Button>
      )}
    </>
  );
}

interface Common {
  name: string; // of the field, as in field_errors
  label: string;
  help?: ComponentChildren;
  errors: FieldError[];
  disabled: boolean;
}

function Lines({
  name,
  label,
  help,
  errors,
  disabled,
  value,
  set,
}: Common & { value: string; set: (v: string) => void }) {
  return (
    <Labelled name={name} label={label} help={help} errors={errors}>
      {(of) => (
        <textarea
          {...of}
          class="mono"
          rows={6}
          disabled={disabled}
          spellcheck={false}
          value={value}
          onInput={(e) => set(e.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

// WordsInput edits a comma-separated list.
function WordsInput({
  value,
  set,
  hint,
  ...rest
}: Common & { value: unknown; hint?: string; set: (v: unknown) => void }) {
  return (
    <Labelled name={rest.name} label={rest.label} help={rest.help ?? 'separated by commas'} errors={rest.errors}>
      {(of) => (
        <Draft
          {...of}
          placeholder={hint}
          disabled={rest.disabled}
          value={listOf(value).join(', ')}
          set={(text) => {
            const words = wordsOf(text);
            set(words.length > 0 ? words : undefined);
          }}
        />
      )}
    </Labelled>
  );
}

function Some({
  name: path,
  label,
  help,
  errors,
  disabled,
  options,
  value,
  set,
}: Common & { options: [string, string][]; value: string[]; set: (v: unknown) => void }) {
  return (
    <fieldset class={`field some ${errors.length > 0 ? 'wrong' : ''}`} data-field={path}>
      <legend>{label}</legend>
      <div class="row">
        {options.length === 0 && <span class="faint">none to choose from</span>}
        {options.map(([option, name]) => (
          <label>
            <input
              type="checkbox"
              disabled={disabled}
              checked={value.includes(option)}
              onChange={(e) => {
                const chosen = e.currentTarget.checked ? [...value, option] : value.filter((v) => v !== option);
                set(chosen.length > 0 ? chosen : undefined);
              }}
            />
            {name}
          </label>
        ))}
      </div>
      {errors.map((e) => (
        <p class="error">{e.expected}</p>
      ))}
      {help && <p class="help">{help}</p>}
    </fieldset>
  );
}

// numberOf returns text that is not a number unchanged. The exchange then rejects it.
export function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(trimmed) && trimmed === String(Number(trimmed)) ? Number(trimmed) : text;
}

export const wordsOf = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
// withMissing adds the ids that the document has, but the exchange has not.
function withMissing(known: [string, string][] = [], used: string[]): [string, string][] {
  const missing = used.filter((id) => !known.some(([k]) => k === id));
  return [...known, ...missing.map((id): [string, string] => [id, id])];
}
const join = (...parts: (string | undefined)[]): string => parts.filter(Boolean).join('; ');

// focusField opens the sections around a field's input and focuses it. The field has a name as in
// field_errors. If it has no input of its own, the list or group that contains it gets the focus.
export function focusField(field: string): void {
  for (let path = pathOf(field); path.length > 0; path = path.slice(0, -1)) {
    const found = window.document.querySelector<HTMLElement>(`form [data-field="${CSS.escape(nameOf(path))}"]`);
    if (!found) continue;
    for (let e: HTMLElement | null = found; e; e = e.parentElement) if (e instanceof HTMLDetailsElement) e.open = true;
    found.querySelector<HTMLElement>('summary, input, select, textarea')?.focus();
    return;
  }
}
