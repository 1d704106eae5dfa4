import { useEffect, useState } from 'preact/hooks';

type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'ringfence-theme';
const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const;

interface Theme {
  readonly choice: ThemeChoice;
  /** What is shown: `light` or `dark`. */
  readonly shown: string;
  readonly next: () => void;
}

/** Light or dark: as the system has it, or as the person chose it on this device. */
export function useTheme(): Theme {
  const [choice, setChoice] = useState<ThemeChoice>(stored);
  const [systemIsDark, setSystemIsDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setSystemIsDark(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  const next = () => {
    const chosen = NEXT[choice];
    applyTheme(chosen);
    localStorage.setItem(KEY, chosen);
    setChoice(chosen);
  };
  return { choice, shown: choice === 'system' ? (systemIsDark ? 'dark' : 'light') : choice, next };
}

/** Shows what was chosen before. Call it before the first rendering. */
export function applyStoredTheme(): void {
  applyTheme(stored());
}

function applyTheme(choice: ThemeChoice): void {
  if (choice === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

function stored(): ThemeChoice {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}
