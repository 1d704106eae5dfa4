import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, api } from '../../data/api.ts';
import type { Checkpoint, Conflict, Decided, Review } from '../../data/api-types.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Diff } from '../../parts/diff.tsx';
import { formatTime, plural } from '../../parts/format.ts';
import { useSession } from '../../parts/use-session.ts';
import { ConflictList } from './conflict-list.tsx';

type Decision = 'accept' | 'take_back';

/** All that changed in a root since a checkpoint, to accept or to take back as a whole, by file or by hunk. */
export function ReviewPanel({ root }: { readonly root: string }) {
  const session = useSession();
  const [since, setSince] = useState('');
  const [checkpoints, setCheckpoints] = useState<readonly Checkpoint[]>([]);
  const [review, setReview] = useState<Review>();
  const [conflicts, setConflicts] = useState<readonly Conflict[]>();
  const [isAskingAll, setIsAskingAll] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const read = useCallback(async () => {
    try {
      setReview(await api.review(root, since === '' ? undefined : since));
    } catch (error) {
      session.fail(error);
    }
  }, [root, since, session]);
  useEffect(() => void read(), [read]);
  useEffect(() => {
    api.changes(root, 1).then(
      (page) => setCheckpoints(page.checkpoints),
      () => {},
    );
  }, [root]);
  const decide = async (decision: Decision, files: Decided) => {
    if (review === undefined) return;
    setIsBusy(true);
    setConflicts(undefined);
    try {
      await api.decide(root, review.id, decision, files);
      session.say(decision === 'accept' ? 'Accepted.' : 'Taken back. This is a change itself and can be undone.');
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && error.conflicts.length > 0)
        setConflicts(error.conflicts);
      else session.fail(error);
    }
    await read();
    setIsBusy(false);
  };
  if (review === undefined) return <p class="empty">Loading…</p>;
  const open = review.files.filter(({ part_of }) => part_of === null);
  const mayDecide = session.state?.me.may_undo ?? false;
  return (
    <div class="review">
      <div class="panel">
        <header class="panel-head">
          <label class="field">
            <span>Since</span>
            <select value={since} onChange={(event) => setSince(event.currentTarget.value)}>
              <option value="">{checkpoints.length > 0 ? 'the newest checkpoint' : 'the beginning'}</option>
              {checkpoints.map(({ name, time }) => (
                <option key={name} value={name}>
                  {name} ({formatTime(time)})
                </option>
              ))}
            </select>
          </label>
          <span class="faint" role="status">
            {plural(open.length, 'difference')} to review
          </span>
          <span class="push" />
          {open.length > 0 && mayDecide && (
            <span class="actions">
              <button type="button" class="button" disabled={isBusy} onClick={() => void decide('accept', 'all')}>
                Accept all
              </button>
              <button type="button" class="button" disabled={isBusy} onClick={() => setIsAskingAll(true)}>
                Take back all
              </button>
            </span>
          )}
        </header>
      </div>
      {conflicts !== undefined && (
        <div class="panel banner" role="alert">
          <p>Nothing was taken back, because newer work is in the way:</p>
          <ConflictList conflicts={conflicts} />
        </div>
      )}
      {review.files.length === 0 && <p class="panel empty">Nothing changed in {root} since then.</p>}
      {review.files.map((file) => (
        <Diff
          key={file.path}
          file={file}
          actions={
            file.part_of === null &&
            mayDecide && (
              <Decisions
                what={file.path}
                isBusy={isBusy}
                onDecide={(decision) => void decide(decision, [{ path: file.path }])}
              />
            )
          }
          hunkActions={(hunk) =>
            file.divisible &&
            mayDecide && (
              <Decisions
                what={`hunk ${hunk.header} of ${file.path}`}
                isBusy={isBusy}
                isSmall
                onDecide={(decision) => void decide(decision, [{ path: file.path, hunks: [hunk.id] }])}
              />
            )
          }
        />
      ))}
      {review.truncated && <p class="empty">There is more than can be shown here.</p>}
      {isAskingAll && (
        <ConfirmDialog
          title={`Take back everything in ${root}?`}
          action="Take back all"
          onClose={() => setIsAskingAll(false)}
          onConfirm={() => void decide('take_back', 'all')}
        >
          <p>{plural(open.length, 'difference')} will be as before. This is a change itself and can be undone.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

interface DecisionsProps {
  /** What is decided on, for those who hear the button and not what stands around it. */
  readonly what: string;
  readonly isBusy: boolean;
  readonly isSmall?: boolean;
  readonly onDecide: (decision: Decision) => void;
}

function Decisions({ what, isBusy, isSmall = false, onDecide }: DecisionsProps) {
  const name = isSmall ? 'button small' : 'button';
  return (
    <span class="actions">
      <button
        type="button"
        class={name}
        disabled={isBusy}
        aria-label={`Accept ${what}`}
        onClick={() => onDecide('accept')}
      >
        Accept
      </button>
      <button
        type="button"
        class={name}
        disabled={isBusy}
        aria-label={`Take back ${what}`}
        onClick={() => onDecide('take_back')}
      >
        Take back
      </button>
    </span>
  );
}
