const place = (name: string): string => `pingpost-columns-${name}`;

// hiddenOf returns the hidden columns of a table that the browser has kept.
export function hiddenOf(name: string): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(place(name)) ?? '[]');
    return Array.isArray(found) ? found.map(String) : [];
  } catch {
    return []; // local storage may be disabled
  }
}

// Columns is the picker of a table's columns.
export function Columns({
  name,
  all,
  hidden,
  set,
}: {
  name: string;
  all: string[];
  hidden: string[];
  set: (hidden: string[]) => void;
}) {
  const put = (head: string, on: boolean) => {
    const next = on ? hidden.filter((h) => h !== head) : [...hidden, head];
    set(next);
    try {
      localStorage.setItem(place(name), JSON.stringify(next));
    } catch {
      // Without storage, the choice applies until the page is closed.
    }
  };
  return (
    <details class="drop">
      <summary class="button quiet">Columns</summary>
      <fieldset class="drop-body">
        <legend class="unseen">Columns</legend>
        {all.map((head) => (
          <label>
            <input
              type="checkbox"
              checked={!hidden.includes(head)}
              disabled={!hidden.includes(head) && hidden.length === all.length - 1}
              onChange={(e) => put(head, e.currentTarget.checked)}
            />
            {head}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
