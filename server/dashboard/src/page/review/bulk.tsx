import type { ComponentChildren } from 'preact';
import { count } from '../../format';

// Bulk is the bar above a table with the actions for the selected rows, and their errors.
export function Bulk({
  chosen,
  failed,
  children,
}: {
  chosen: string[];
  failed: Map<string, string>;
  children: ComponentChildren;
}) {
  return (
    <>
      <div class="bulk row">
        <span role="status">
          {chosen.length === 0 ? 'Select rows to decide them together.' : `${count(chosen.length)} selected`}
        </span>
        {chosen.length > 0 && children}
      </div>
      {failed.size > 0 && (
        <div class="note bad" role="alert">
          <p>{count(failed.size)} could not be changed:</p>
          <ul>
            {[...failed].map(([key, why]) => (
              <li>
                <code>{key}</code>: {why}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
