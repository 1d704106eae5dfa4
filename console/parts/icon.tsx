const PATHS = {
  live: 'M2 9h3l2-5 3 9 2-5h2',
  calls: 'M3 4h10M3 8h10M3 12h6',
  history: 'M3 3v3h3M3.5 6A5 5 0 1 1 3 9M8 5.5V8l2 1.5',
  roots: 'M2 5a1 1 0 0 1 1-1h3l1.5 1.5H13a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z',
  sun: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  moon: 'M13 9.5A5.5 5.5 0 1 1 6.5 3a4.5 4.5 0 0 0 6.5 6.5z',
  system: 'M2.5 3.5h11v7h-11zM6 13h4M8 10.5V13',
  leave: 'M6 3H3v10h3M7 8h7M11.5 5.5 14 8l-2.5 2.5',
  violation: 'M8 2.2 14.2 13H1.8zM8 6.5v3M8 11.2v.3',
  error: 'M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2M6 6l4 4M10 6l-4 4',
  success: 'M3.5 8.5 6.5 11.5 12.5 5',
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M10 3 5 8l5 5',
  up: 'M8 13V3M4 7l4-4 4 4',
  lock: 'M4.5 7V5.2a3.5 3.5 0 0 1 7 0V7M3.5 7h9v6.5h-9z',
  clock: 'M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2M8 5v3.2l2 1.3',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a word; it says nothing by itself. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
