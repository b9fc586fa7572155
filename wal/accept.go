package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Loss is what AcceptLoss cut off.
type Loss struct {
	Damage *DamageError // nil where there was none, and nothing was changed
	Last   uint64       // the entry that the log ends with now
	Kept   string       // the folder with the copies
	Epoch  uint32       // of the log from here on
}

// AcceptLoss is an operator's decision: it cuts a damaged log at the damage that Open
// refuses, so that Open succeeds again. Everything behind is lost to the log,
// acknowledged entries too. What is cut is kept under damage/, and so are snapshots
// that have seen what is now lost. The epoch rises, since the lost sequences will be
// given again.
//
// opt.From and opt.AtLeast are those of the Open that refused: only then is the log
// cut where that one stopped, and not at older damage that no replay meets. A cut
// behind which nothing could be replayed is refused; then only a backup helps.
func AcceptLoss(dir string, opt Options) (Loss, error) {
	opt = opt.withDefaults()
	if _, err := os.Stat(logDir(dir)); err != nil {
		return Loss{}, fmt.Errorf("cannot open the log in %q: %w", dir, err)
	}
	lockFile, err := lock(dir)
	if err != nil {
		return Loss{}, err
	}
	defer lockFile.Close()
	if err := checkNames(dir); err != nil {
		return Loss{}, err
	}
	segments, err := Segments(dir)
	if err != nil {
		return Loss{}, fmt.Errorf("cannot list the log: %w", err)
	}
	t, damage, err := damaged(dir, segments, opt)
	if err != nil || damage == nil {
		return Loss{Last: t.chain.seq}, err
	}
	if err := replayable(dir, segments, t.chain.seq); err != nil {
		return Loss{}, err
	}
	return cutAt(dir, t, damage, segments, opt)
}

// damaged is the damage for which Open refuses, nil where it does not, and how far
// the log is whole before it.
func damaged(dir string, segments []Segment, opt Options) (t tail, damage *DamageError, err error) {
	if len(segments) == 0 {
		if !opt.isOfNewLog() {
			err = fmt.Errorf("nothing was cut: %q is empty, and a snapshot has seen entry %d; restore a backup", logDir(dir), opt.AtLeast)
		}
		return t, nil, err
	}
	t, err = scan(segments, opt.From, nil)
	if !errors.As(err, &damage) && err != nil {
		return t, nil, err
	}
	known := max(opt.AtLeast, max(1, opt.From)-1)
	switch {
	case t.seg.First == 0:
		return t, nil, fmt.Errorf("nothing was cut: the log begins with entry %d, and a start needs it from entry %d on; restore a backup",
			segments[0].First, max(1, opt.From))
	case damage != nil && (!damage.Torn || t.chain.seq < known):
		return t, damage, nil
	case t.chain.seq >= known && !t.seg.Archived:
		return t, nil, nil // Open cuts a torn tail by itself
	}
	damage = &DamageError{Segment: t.seg.First, Path: t.seg.Path, Offset: t.size, Seq: t.chain.seq + 1, Reason: "the log ends here, before a snapshot does or in the archive"}
	return t, damage, nil
}

// replayable refuses a cut behind entry last that would leave a log without its
// beginning and no snapshot that makes up for it.
func replayable(dir string, segments []Segment, last uint64) error {
	first := segments[0].First
	if first == 1 {
		return nil
	}
	snapshots, err := Snapshots(dir)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		info, err := verifySnapshot(s.Path, newPacer(0))
		if err == nil && info.Newest == s.Newest && info.Newest <= last && info.Oldest+1 >= first {
			return nil
		}
	}
	return fmt.Errorf("nothing was cut: the log would end with entry %d, its history begins only with entry %d, "+
		"and no good snapshot lies between them; restore a backup", last, first)
}

// cutAt ends the log at t. The epoch comes first and the cut segment last, so that a
// crash in between leaves a log that Open still refuses, or one that is cut.
func cutAt(dir string, t tail, damage *DamageError, segments []Segment, opt Options) (Loss, error) {
	loss := Loss{Damage: damage, Last: t.chain.seq}
	loss.Kept = filepath.Join(damageDir(dir), fmt.Sprintf("%s.%d.lost", segmentName(damage.Seq), opt.Now()))
	epoch, err := ReadEpoch(dir)
	if err == nil {
		loss.Epoch = max(epoch, t.chain.epoch) + 1
		err = errors.Join(makeDir(damageDir(dir)), makeDir(loss.Kept), WriteEpoch(dir, loss.Epoch))
	}
	if err != nil {
		return loss, err
	}
	for i := len(segments) - 1; i >= 0 && segments[i].First > t.seg.First; i-- {
		if err := moveFile(segments[i].Path, filepath.Join(loss.Kept, filepath.Base(segments[i].Path)+".kept")); err != nil {
			return loss, fmt.Errorf("cannot set aside what is lost: %w", err)
		}
	}
	if err := setAsideSnapshots(dir, t.chain.seq, loss.Kept); err != nil {
		return loss, fmt.Errorf("cannot set aside what is lost: %w", err)
	}
	if err := replaceFile(filepath.Join(loss.Kept, segmentName(t.seg.First)+".whole"), t.seg.Path, t.file); err != nil {
		return loss, fmt.Errorf("cannot keep a copy of the damaged segment: %w", err)
	}
	if err := replaceFile(livePath(dir, t.seg.First), t.seg.Path, t.size); err != nil {
		return loss, fmt.Errorf("cannot cut the damaged segment: %w", err)
	}
	if t.seg.Archived {
		err = errors.Join(os.Remove(t.seg.Path), syncDir(archiveDir(dir)))
	}
	opt.Logger.Warn("the loss of log entries was accepted", "from", damage.Seq, "reason", damage.Reason, "kept", loss.Kept, "epoch", loss.Epoch)
	return loss, err
}

// setAsideSnapshots moves snapshots that have seen more than entry last.
func setAsideSnapshots(dir string, last uint64, to string) error {
	snapshots, err := Snapshots(dir)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		if s.Newest > last {
			if err := moveFile(s.Path, filepath.Join(to, filepath.Base(s.Path)+".kept")); err != nil {
				return err
			}
		}
	}
	return nil
}
