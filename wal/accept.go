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
// given again. opt.From says where the replay begins, as for Open.
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
	t, err := scan(segments, opt.From, nil)
	var damage *DamageError
	if !errors.As(err, &damage) && err != nil {
		return Loss{}, err
	}
	if t.seg.First == 0 {
		return Loss{}, err // the log begins behind the snapshot: only a backup helps
	}
	known := max(opt.AtLeast, max(1, opt.From)-1)
	if (damage == nil || damage.Torn) && t.chain.seq >= known {
		return Loss{Last: t.chain.seq}, nil // Open cuts a torn tail by itself
	}
	if damage == nil {
		damage = &DamageError{Segment: t.seg.First, Path: t.seg.Path, Offset: t.size, Seq: t.chain.seq + 1, Reason: "the log ends before a snapshot does"}
	}
	return cutAt(dir, t, damage, segments, opt)
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
