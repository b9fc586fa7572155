import type { Failure } from '../call';

// Wrong shows an error next to the control that caused it.
export function Wrong({ failure }: { failure: Failure | undefined }) {
  if (!failure) return null;
  return (
    <div class="note bad" role="alert">
      <p>{failure.message}</p>
      {failure.fields.length > 0 && (
        <ul>
          {failure.fields.map((f) => (
            <li>
              <code>{f.field}</code>: {f.expected}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
