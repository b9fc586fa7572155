import type { Failure } from '../call';

interface Of {
  failure: Failure | undefined;
  titleOf?: (field: string) => string; // of a field of the form
}

// Wrong shows an error next to the control that caused it. Mistakes in fields have the titles of the
// form, and not the API's message about its members.
export function Wrong({ failure, titleOf }: Of) {
  if (!failure) return null;
  return (
    <div class="note bad" role="alert">
      <p>{failure.fields.length > 0 ? 'Some fields need a change.' : failure.message}</p>
      {failure.fields.length > 0 && (
        <ul>
          {failure.fields.map((f) => (
            <li>
              {titleOf ? <strong>{titleOf(f.field)}</strong> : <code>{f.field}</code>}: {f.expected}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
