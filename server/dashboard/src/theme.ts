// Light or dark: as the system says, until somebody says otherwise.

export type Theme = 'system' | 'light' | 'dark';
const key = 'pingpost-theme';

export function kept(): Theme {
  try {
    const word = localStorage.getItem(key);
    return word === 'light' || word === 'dark' ? word : 'system';
  } catch {
    return 'system'; // a browser may refuse to keep anything
  }
}

export function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(key, theme);
  } catch {
    // It holds for as long as the page is open.
  }
  dispatchEvent(new Event('theme'));
}

// color is what a custom property comes to now.
export function color(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// onTheme calls f whenever the colours may be others.
export function onTheme(f: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', f);
  addEventListener('theme', f);
  return () => {
    system.removeEventListener('change', f);
    removeEventListener('theme', f);
  };
}
