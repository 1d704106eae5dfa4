import type { Conflict } from '../../data/api-types.ts';

/** The files that newer work touched, each with why it is in the way. */
export function ConflictList({ conflicts }: { readonly conflicts: readonly Conflict[] }) {
  return (
    <ul class="conflicts">
      {conflicts.map(({ path, reason }) => (
        <li key={`${path}\n${reason}`}>
          <span class="path">{path}</span> <span class="faint">{reason}</span>
        </li>
      ))}
    </ul>
  );
}
