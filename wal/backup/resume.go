package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"pingpost/wal"
	"pingpost/wal/backup/store"
)

// A shipper continues where the last one ended, if the newest generation is of this life of
// the log and the log still has the end of that generation. The shipper reads that end from
// the log again and compares it with the sums in the objects' names. If the log is shorter or
// has other entries there, the folder is an old copy, its disk lost acknowledged writes, or
// two copies continued at the same time. Such a folder must not ship, because the other
// copy's entries were acknowledged last.

var (
	// ErrDiverged reports that the log lacks entries that were backed up from it.
	ErrDiverged = errors.New("the log is not the one that was backed up there: it lacks backed-up entries, or has others in their place. " +
		"The folder is an older copy, or its disk has lost data. Restore the backup; or, if this folder is the one to continue, back it up to another place")
	// ErrForeign reports that the store has another exchange's backup.
	ErrForeign = errors.New("the backup there is of another exchange; give each its own place")
	// ErrMixed reports that some objects would be encrypted and some not.
	ErrMixed = errors.New("the backup there is encrypted and this one is not, or the other way round; give this one another place")
)

// findResumableGeneration returns the generation in the store that this log continues, or nil if
// a new one must begin. It loads the end of the shipped log into s.tail, so that later
// entries are merged with it. The error is ErrDiverged if the log is not the backed-up one,
// and ErrMixed if the generation is encrypted and this shipper does not encrypt, or the reverse.
func (s *Shipper) findResumableGeneration(generations []*backupGeneration) (*backupGeneration, error) {
	if len(generations) == 0 {
		return nil, nil
	}
	g := generations[len(generations)-1]
	if g.claim.Sealed != s.opt.Key.hasRecipients() {
		return nil, fmt.Errorf("cannot back up to %s: %w", s.opt.To, ErrMixed)
	}
	if g.claim.Epoch != s.epoch {
		return nil, nil
	}
	if len(g.runs) == 0 && g.claim.sum == "" {
		return nil, nil
	}
	if len(g.runs) == 0 {
		s.tail = logTail{first: g.claim.First, due: g.claim.First}
		return s.generationOrNilIfEntriesGone(g, s.openLogReader())
	}
	r := g.runs[len(g.runs)-1]
	if _, ok := g.newestSnapshotFor(r, r.lastEntry()); len(g.runs) > 1 || (r.firstEntry() != g.claim.First && !ok) {
		s.opt.Logger.Warn("backup: the newest generation in the store lacks log objects; a new generation begins with a copy of the whole log", "to", s.opt.To.String(), "generation", g.number)
		return nil, s.checkLogReachesBackedUpEnd(r)
	}
	err := s.checkAndLoadLogEnd(g, r)
	if err == nil && g.claim.sum == "" {
		s.opt.Logger.Warn("an earlier version wrote the backup, without sums of its claims; a new generation begins", "to", s.opt.To.String(), "generation", g.number)
		return nil, nil
	}
	return s.generationOrNilIfEntriesGone(g, err)
}

// generationOrNilIfEntriesGone returns g if readErr, the error of reading the log, is nil. If the log
// has already deleted the entries that come next, it returns nil without an error, and the
// caller begins a new generation. For any other error it returns that error.
func (s *Shipper) generationOrNilIfEntriesGone(g *backupGeneration, readErr error) (*backupGeneration, error) {
	if errors.Is(readErr, wal.ErrGone) {
		s.opt.Logger.Warn("the log no longer has the entries after the backed-up ones; a new generation of the backup begins", "to", s.opt.To.String())
		s.tail = logTail{}
		return nil, nil
	}
	if readErr != nil {
		return nil, readErr
	}
	return g, nil
}

// checkAndLoadLogEnd reads the log from the last objects of the run r on, and compares it with
// the checksums of these objects. It returns ErrDiverged if the log is not the backed-up one.
func (s *Shipper) checkAndLoadLogEnd(g *backupGeneration, r contiguousObjects) error {
	from, size := len(r)-1, r[len(r)-1].size
	for from > 0 && size+r[from-1].size <= int64(s.opt.mergeAt) {
		from--
		size += r[from].size
	}
	s.tail = logTail{first: r[from].first, due: r[from].first}
	for _, e := range r[from:] {
		begin := len(s.tail.buf)
		if e.first != s.tail.due { // overlaps the previous object, which was read
			continue
		}
		for s.tail.due <= e.last {
			entry, err := s.nextLogEntry()
			if errors.Is(err, io.EOF) {
				return s.checkLogReachesBackedUpEnd(r)
			}
			if err != nil {
				return err
			}
			s.tail.appendEntry(&entry)
		}
		place := logObjectPrefix(generationFolder(g.number), e.first, e.last, e.at)
		if sum(g.box.sumKey, place, s.tail.buf[begin:]) != e.sum {
			return fmt.Errorf("cannot back up %q to %s: entries %d to %d of this log differ from the backed-up ones: %w", s.src.Dir, s.opt.To, e.first, e.last, ErrDiverged)
		}
	}
	s.tail.markShipped()
	s.tail.smallObjects = len(r) - from
	if len(s.tail.buf) >= s.opt.mergeAt {
		s.tail.clearMergedEntries()
	}
	s.status.setLastShipped(r.lastEntry())
	return nil
}

// checkLogReachesBackedUpEnd returns ErrDiverged if the log ends before the last entry of the objects
// backedUp. It returns nil if the log has already deleted that entry as too old.
func (s *Shipper) checkLogReachesBackedUpEnd(backedUp contiguousObjects) error {
	reader, err := s.src.NewReader(backedUp.lastEntry())
	if errors.Is(err, wal.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer reader.Close()
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("cannot back up %q to %s: its log ends before entry %d, which is backed up: %w", s.src.Dir, s.opt.To, backedUp.lastEntry(), ErrDiverged)
}

// claimNewGeneration creates the claim of a new generation, whose copy begins with the oldest
// entry that the log still has.
func (s *Shipper) claimNewGeneration(ctx context.Context) (*backupGeneration, error) {
	for {
		segments, err := wal.Segments(s.src.Dir)
		if err != nil || len(segments) == 0 {
			return nil, errors.Join(fmt.Errorf("cannot back up %q, which has no log", s.src.Dir), err)
		}
		s.tail = logTail{first: segments[0].First, due: segments[0].First}
		if s.reader != nil {
			s.reader.Close()
			s.reader = nil
		}
		if err := s.openLogReader(); errors.Is(err, wal.ErrGone) {
			continue // the log has removed its oldest segment meanwhile
		} else if err != nil {
			return nil, err
		}
		objects, err := s.box.listObjects(ctx, genFolder)
		if err != nil {
			return nil, err
		}
		number := 1
		for _, o := range slices.Backward(objects) {
			if _, err := fmt.Sscanf(o.Name, genFolder+"/%010d/", &number); err == nil {
				number++
				break
			}
		}
		g := &backupGeneration{number: number, files: map[string]string{}, claim: generationClaim{Epoch: s.epoch, First: s.tail.first, Begun: s.opt.now().UTC(), Sealed: s.opt.Key.hasRecipients()}}
		g.claim.sum, err = s.box.createSignedObject(ctx, generationFolder(number)+"/claim", &g.claim)
		if errors.Is(err, store.ErrExists) {
			return nil, fmt.Errorf("cannot back up to %s: %w", s.opt.To, ErrTakenOver)
		}
		if err != nil {
			return nil, err
		}
		g.box = s.box.withChecksumKeyFromClaim(&g.claim)
		s.opt.Logger.Info("a new generation of the backup begins, with a copy of the whole log", "to", s.opt.To.String(), "generation", number, "from", s.tail.first)
		return g, nil
	}
}
