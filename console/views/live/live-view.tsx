import { formatDuration, formatNumber } from '../../parts/format.ts';
import { useSession } from '../../parts/use-session.ts';
import { Approvals } from './approvals.tsx';
import { Running } from './running.tsx';
import { summarise } from './summary.ts';
import { ToolPlots } from './tool-plots.tsx';

/** What happens now: what waits for a person, figures, plots by tool, and what runs. */
export function LiveView({ theme }: { readonly theme: string }) {
  const session = useSession('figures', 'running', 'state');
  const summary = summarise(session.figures);
  return (
    <>
      <Approvals />
      <dl class="tiles">
        <Tile label="Calls per second" value={formatNumber(summary.callsPerSecond)} note="now" />
        <Tile label="Calls" value={formatNumber(summary.calls)} note="last 5 minutes" />
        <Tile
          label="Errors"
          value={formatNumber(summary.errors)}
          note={
            summary.calls === 0 ? 'last 5 minutes' : `${((summary.errors / summary.calls) * 100).toFixed(1)} % of calls`
          }
        />
        <Tile
          label="Violations"
          value={formatNumber(summary.violations)}
          note={summary.violations === 0 ? 'nobody tried the fence' : 'refused by the fence'}
          isBad={summary.violations > 0}
        />
        <Tile label="Slowest tool, p95" value={formatDuration(summary.slowest.p95)} note={summary.slowest.tool} />
        <Tile label="Running" value={formatNumber(session.running.length)} note="longer than 100 ms" />
      </dl>
      <ToolPlots summary={summary} figures={session.figures} theme={theme} />
      <Running />
    </>
  );
}

interface TileProps {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly isBad?: boolean;
}

function Tile({ label, value, note, isBad = false }: TileProps) {
  return (
    <div class={`tile ${isBad ? 'is-bad' : ''}`}>
      <dt>{label}</dt>
      <dd>
        <span class="value">{value}</span>
        <span class="note">{note}</span>
      </dd>
    </div>
  );
}
