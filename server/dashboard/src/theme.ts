// The color theme: the system's, unless the user has chosen one.

export type Theme = 'system' | 'light' | 'dark';
const key = 'pingpost-theme';

export function kept(): Theme {
  try {
    const word = localStorage.getItem(key);
    return word === 'light' || word === 'dark' ? word : 'system';
  } catch {
    return 'system'; // local storage may be disabled
  }
}

export function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Without storage, the choice applies until the page is closed.
  }
  dispatchEvent(new Event('theme'));
}

// color returns the current value of a custom property.
export function color(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// onTheme calls f when the colors may have changed.
export function onTheme(f: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', f);
  addEventListener('theme', f);
  return () => {
    system.removeEventListener('change', f);
    removeEventListener('theme', f);
  };
}
