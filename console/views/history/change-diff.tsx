import { useEffect, useState } from 'preact/hooks';
import { ApiError, api } from '../../data/api.ts';
import type { Change, Conflict, FileDiff } from '../../data/api-types.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Diff } from '../../parts/diff.tsx';
import { formatFullTime, plural } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { useSession } from '../../parts/use-session.ts';
import { ConflictList } from './conflict-list.tsx';

interface ChangeDiffProps {
  readonly root: string;
  readonly change: Change;
  readonly onBack: () => void;
  readonly onUndone: () => void;
}

/** What one change did, and a button that takes it back. */
export function ChangeDiff({ root, change, onBack, onUndone }: ChangeDiffProps) {
  const session = useSession();
  const [diff, setDiff] = useState<{ readonly files: readonly FileDiff[]; readonly truncated: boolean }>();
  const [conflicts, setConflicts] = useState<readonly Conflict[]>();
  const [isBusy, setIsBusy] = useState(false);
  useEffect(() => {
    let isShown = true;
    api.change(root, change.id).then(
      (read) => isShown && setDiff(read),
      (error) => session.fail(error),
    );
    return () => {
      isShown = false;
    };
  }, [root, change.id, session]);
  const undo = async (force: boolean) => {
    setIsBusy(true);
    try {
      await api.undo(root, change.id, force);
      session.say('The change was undone. The undo is a change itself and can be undone.');
      onUndone();
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && !force) setConflicts(conflictsOf(error));
      else session.fail(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <>
      <div class="panel">
        <header class="panel-head change-head">
          <button type="button" class="button small back" onClick={onBack}>
            <Icon name="back" /> Changes
          </button>
          <h2>
            <code>{change.tool}</code>
          </h2>
          <span class="faint">
            {formatFullTime(change.time)} · {change.client ?? 'unknown client'} · {plural(change.files, 'file')}
          </span>
          <span class="push" />
          {change.undone ? (
            <span class="tag">Undone</span>
          ) : (
            session.state?.me.may_undo && (
              <button type="button" class="button" disabled={isBusy} onClick={() => void undo(false)}>
                Undo this change
              </button>
            )
          )}
        </header>
      </div>
      {diff === undefined && <p class="empty">Loading…</p>}
      {diff?.files.map((file) => (
        <Diff key={file.path} file={file} />
      ))}
      {diff?.truncated && <p class="empty">There is more than can be shown here.</p>}
      {conflicts !== undefined && (
        <ConfirmDialog
          title="Newer work is in the way"
          action="Undo anyway"
          onClose={() => setConflicts(undefined)}
          onConfirm={() => void undo(true)}
        >
          <p>Undoing this change would also lose what was done to these since:</p>
          <ConflictList conflicts={conflicts} />
        </ConfirmDialog>
      )}
    </>
  );
}

function conflictsOf({ conflicts, message }: ApiError): readonly Conflict[] {
  return conflicts.length > 0 ? conflicts : [{ path: '', reason: message }];
}
