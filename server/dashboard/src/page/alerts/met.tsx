import { differences } from '../../form/document';
import { scalar, words } from '../../format';
import type { Doc } from '../../types';
import type { Met } from './save';

// Conflict says that another operator has changed or removed the edited entry, with the values
// in which the input differs.
export function Conflict<T>({ met, mine }: { met: Met<T> | undefined; mine: object }) {
  if (!met) return null;
  if (!met.current) {
    return (
      <p class="note warn" role="alert">
        Another operator has removed this entry meanwhile. Your input is kept. Save it to create the entry again.
      </p>
    );
  }
  const theirs = met.current as Doc;
  const shared = Object.fromEntries(Object.keys(mine).map((key) => [key, theirs[key]]));
  return (
    <div class="note warn" role="alert">
      <p>Another operator has changed this entry meanwhile. Your input is kept. Save it to replace their values:</p>
      <ul class="changes">
        {differences(shared, mine).map((d) => (
          <li>
            <span>{words(d.path)}</span>
            <span>
              <del>{scalar(d.before)}</del> <ins>{scalar(d.after)}</ins>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
