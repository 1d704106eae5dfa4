import type { ComponentChildren } from 'preact';
import type { Call } from '../../data/api-types.ts';
import { formatBytes, formatDuration, formatFullTime } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { goTo } from '../../parts/use-route.ts';

/** Everything that is known about one call. */
export function CallDetails({ call, onClose }: { readonly call: Call; readonly onClose: () => void }) {
  const { root, change } = call;
  return (
    <aside
      class="details panel"
      aria-label="Details of the call"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header class="panel-head">
        <h2>
          <code>{call.tool}</code>
        </h2>
        <span class="push" />
        <button type="button" class="button icon-only plain" aria-label="Close details" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {call.violation && (
        <p class="banner">
          <Icon name="violation" /> The call tried to leave its root or to pass a guard. It was refused.
        </p>
      )}
      <dl class="facts">
        <Fact name="Outcome">
          {call.outcome === 'success' ? 'Success' : `Error${call.code === null ? '' : `: ${call.code}`}`}
        </Fact>
        <Fact name="Time">{formatFullTime(call.time)}</Fact>
        <Fact name="Took">{formatDuration(call.duration_ms)}</Fact>
        <Fact name="Answer">{formatBytes(call.response_bytes)}</Fact>
        <Fact name="Root">{root ?? '–'}</Fact>
        <Fact name="Path">
          <span class="path">{call.path ?? '–'}</span>
        </Fact>
        <Fact name="Client">{call.client ?? '–'}</Fact>
        <Fact name="Token">{call.token ?? '–'}</Fact>
        <Fact name="Dialect">{call.dialect}</Fact>
        <Fact name="Number">{call.id}</Fact>
        {change !== null && <Fact name="Change">{change}</Fact>}
      </dl>
      {change !== null && root !== null && (
        <button type="button" class="button" onClick={() => goTo('history', root)}>
          Show the history of {root}
        </button>
      )}
    </aside>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
