package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pingpost/internal/durable"
)

// LossReport describes one call of AcceptLoss: the damage, the end of the cut log, and the
// folder with the copies of the removed files.
type LossReport struct {
	Damage *DamageError // nil if Open accepts the log as it is; then AcceptLoss changed no file
	Last   uint64       // last entry of the log after the cut
	Kept   string       // folder with copies of the removed files; empty if AcceptLoss changed no file
	Epoch  uint32       // the log's epoch after the cut; 0 if AcceptLoss changed no file
}

// AcceptLoss cuts a damaged log at the damage that Open rejects, so that Open succeeds
// again. An operator decides this: the log loses every later entry, acknowledged ones
// too. AcceptLoss keeps copies of the removed bytes under damage/, together with
// snapshots that contain lost entries. It raises the epoch, because the log will assign
// the lost sequences again.
//
// Pass the opt.From and opt.AtLeast of the Open call that failed. AcceptLoss then cuts
// where that call stopped, and ignores older damage that no replay reads. It rejects a
// cut that would leave no replayable log; in that case only a backup helps.
func AcceptLoss(dir string, opt Options) (LossReport, error) {
	opt = opt.withDefaults()
	if _, err := os.Stat(logDir(dir)); err != nil {
		return LossReport{}, fmt.Errorf("cannot open the log in %q: %w", dir, err)
	}
	lockFile, err := lockDir(dir)
	if err != nil {
		return LossReport{}, err
	}
	defer lockFile.Close()
	if err := rejectFilesThatLoseEntries(dir); err != nil {
		return LossReport{}, err
	}
	segments, err := Segments(dir)
	if err != nil {
		return LossReport{}, fmt.Errorf("cannot list the log: %w", err)
	}
	end, damage, err := findDamage(dir, segments, opt)
	if err != nil || damage == nil {
		return LossReport{Last: end.chain.seq}, err
	}
	if err := checkReplayableAfterCut(dir, segments, end.chain.seq); err != nil {
		return LossReport{}, err
	}
	return truncateAtDamage(dir, end, damage, segments, opt)
}

// findDamage reads the log as Open would. It returns the damage that makes Open fail, or nil
// if Open accepts the log, and the end of the intact part of the log.
func findDamage(dir string, segments []Segment, opt Options) (end logEnd, damage *DamageError, err error) {
	if len(segments) == 0 {
		if !opt.callerKnowsNoEntries() {
			err = fmt.Errorf("log not changed: %q is empty, but a snapshot contains entry %d; restore a backup", logDir(dir), opt.AtLeast)
		}
		return end, nil, err
	}
	end, err = readWholeSegmentsFrom(segments, opt.From, nil)
	if !errors.As(err, &damage) && err != nil {
		return end, nil, err
	}
	known := max(opt.AtLeast, max(1, opt.From)-1)
	switch {
	case end.seg.First == 0:
		return end, nil, fmt.Errorf("log not changed: the oldest entry is %d, but a start replays from entry %d on; restore a backup",
			segments[0].First, max(1, opt.From))
	case damage != nil && (!damage.Torn || end.chain.seq < known):
		return end, damage, nil
	case end.chain.seq >= known && !end.seg.Archived:
		return end, nil, nil // Open itself cuts a torn tail
	}
	damage = &DamageError{Segment: end.seg.First, Path: end.seg.Path, Offset: end.size, Seq: end.chain.seq + 1, Reason: "the log ends here: it lacks entries that a snapshot contains, or its last segment is archived"}
	return end, damage, nil
}

// checkReplayableAfterCut returns an error if a replay would be impossible after a cut behind
// entry lastEntryAfterCut. That is the case if the log's first entries are deleted and no valid snapshot
// up to that entry replaces them.
func checkReplayableAfterCut(dir string, segments []Segment, lastEntryAfterCut uint64) error {
	first := segments[0].First
	if first == 1 {
		return nil
	}
	snapshots, err := ListSnapshotFiles(dir)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		info, err := verifySnapshot(s.Path, newThrottle(0))
		if err == nil && info.Newest == s.Newest && info.Newest <= lastEntryAfterCut && info.LastInAllSections+1 >= first {
			return nil
		}
	}
	return fmt.Errorf("log not changed: it would contain only entries %d to %d, and no valid snapshot covers the entries before; restore a backup", first, lastEntryAfterCut)
}

// truncateAtDamage cuts the log at `end`. It keeps a copy of the damaged segment under damage/. It
// moves all later segments, and the snapshots that contain lost entries, there. It writes the raised
// epoch first and the cut segment last. After a crash in between, Open either still rejects the log or
// finds it completely cut.
func truncateAtDamage(dir string, end logEnd, damage *DamageError, segments []Segment, opt Options) (LossReport, error) {
	loss := LossReport{Damage: damage, Last: end.chain.seq}
	loss.Kept = filepath.Join(damageDir(dir), fmt.Sprintf("%s.%d.lost", segmentName(damage.Seq), opt.Now()))
	epoch, err := ReadEpoch(dir)
	if err == nil {
		loss.Epoch, err = NextEpoch(max(epoch, end.chain.epoch))
	}
	if err == nil {
		err = errors.Join(durable.MakeFolder(damageDir(dir)), durable.MakeFolder(loss.Kept), WriteEpoch(dir, loss.Epoch))
	}
	if err != nil {
		return loss, err
	}
	for i := len(segments) - 1; i >= 0 && segments[i].First > end.seg.First; i-- {
		if err := moveFile(segments[i].Path, filepath.Join(loss.Kept, filepath.Base(segments[i].Path)+".kept")); err != nil {
			return loss, fmt.Errorf("cannot move a log segment after the damage to damage/: %w", err)
		}
	}
	if err := moveSnapshotsWithLostEntries(dir, end.chain.seq, loss.Kept); err != nil {
		return loss, fmt.Errorf("cannot move a snapshot with entries after the damage to damage/: %w", err)
	}
	if err := copyFileOver(filepath.Join(loss.Kept, segmentName(end.seg.First)+".whole"), end.seg.Path, end.fileSize); err != nil {
		return loss, fmt.Errorf("cannot keep a copy of the damaged segment: %w", err)
	}
	if err := copyFileOver(livePath(dir, end.seg.First), end.seg.Path, end.size); err != nil {
		return loss, fmt.Errorf("cannot cut the damaged segment: %w", err)
	}
	if end.seg.Archived {
		err = errors.Join(os.Remove(end.seg.Path), durable.SyncFolder(archiveDir(dir)))
	}
	opt.Logger.Warn("log cut at the damage; the entry there and all later entries are lost", "from", damage.Seq, "reason", damage.Reason, "kept", loss.Kept, "epoch", loss.Epoch)
	return loss, err
}

// moveSnapshotsWithLostEntries moves the snapshots that contain entries after lastKeptEntry to the
// folder toFolder, because these entries are cut from the log.
func moveSnapshotsWithLostEntries(dir string, lastKeptEntry uint64, toFolder string) error {
	snapshots, err := ListSnapshotFiles(dir)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		if s.Newest > lastKeptEntry {
			if err := moveFile(s.Path, filepath.Join(toFolder, filepath.Base(s.Path)+".kept")); err != nil {
				return err
			}
		}
	}
	return nil
}
