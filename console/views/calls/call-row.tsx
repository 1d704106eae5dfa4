import type { Call } from '../../data/api-types.ts';
import { formatDuration, formatTime } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';

interface CallRowProps {
  readonly call: Call;
  readonly index: number;
  readonly isActive: boolean;
  readonly onOpen: () => void;
}

/** One call. A violation has a picture, a word and a bar of its own, so that it stands out without colours too. */
export function CallRow({ call, index, isActive, onOpen }: CallRowProps) {
  const outcome = call.violation ? 'violation' : call.outcome;
  const word = call.violation ? 'Violation' : call.outcome === 'error' ? (call.code ?? 'Error') : 'OK';
  return (
    <div
      role="row"
      id={`call-${call.id}`}
      aria-rowindex={index + 2}
      aria-selected={isActive}
      class={`call-row is-${outcome} ${isActive ? 'is-active' : ''}`}
      onClick={onOpen}
    >
      <div role="gridcell" class="cell-outcome">
        <Icon name={outcome} /> <span>{word}</span>
      </div>
      <div role="gridcell" class="cell-time">
        {formatTime(call.time)}
      </div>
      <div role="gridcell" class="cell-tool">
        {call.tool}
      </div>
      <div role="gridcell" class="cell-path">
        {call.root !== null && <span class="faint">{call.root}/</span>}
        <bdi>{call.path}</bdi>
      </div>
      <div role="gridcell" class="cell-client">
        {call.client}
      </div>
      <div role="gridcell" class="cell-took">
        {formatDuration(call.duration_ms)}
      </div>
    </div>
  );
}
