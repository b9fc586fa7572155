package backup

import (
	"cmp"
	"context"
	"math"
	"slices"

	"pingpost/wal"
)

// removeExpiredObjects removes the objects that are not needed to restore any moment within
// Options.Retain. It runs at intervals, or at once if ignoreInterval is true. It removes no object
// before the current generation is complete, or if Retain is 0 (forever).
//
// An older generation is needed as long as a moment within Retain is before the next complete
// generation. It is removed only if a later one is complete. The current generation is never
// removed. It keeps its newest snapshot from before the retained time, and the log that a
// replay from this snapshot needs. It also keeps the history that the log itself still has,
// so that a restored exchange can explain as much.
func (s *Shipper) removeExpiredObjects(ctx context.Context, ignoreInterval bool) error {
	at := s.opt.now()
	if s.opt.Retain == 0 || (!ignoreInterval && at.Sub(s.lastExpire) < s.opt.expireInterval) || s.gen == nil || s.gen.completion == nil {
		return nil
	}
	all, err := s.box.readGenerations(ctx)
	if err != nil {
		return err
	}
	s.lastExpire = at
	before := at.Add(-s.opt.Retain)
	for i, g := range all {
		later := slices.IndexFunc(all[i+1:], func(g *backupGeneration) bool { return g.completion != nil })
		if later < 0 || g.number >= s.gen.number || all[i+1+later].completion.At.After(before) {
			continue
		}
		if err := s.removeGeneration(ctx, g); err != nil {
			return err
		}
		s.opt.Logger.Info("backup: a generation is past its retention and was removed", "to", s.opt.To.String(), "generation", g.number)
	}
	i := slices.IndexFunc(all, func(g *backupGeneration) bool { return g.number == s.gen.number })
	if i < 0 {
		return nil
	}
	return s.removeUnneededObjects(ctx, all[i], before.UnixNano())
}

// removeGeneration removes all objects of a generation from the store. It removes the
// manifest first and the claim last, so that readers ignore a partly removed generation.
func (s *Shipper) removeGeneration(ctx context.Context, g *backupGeneration) error {
	var manifest, claim, others []string
	for _, o := range g.objects {
		switch of, _ := folderOfManifest(o); {
		case of == generationFolder(g.number):
			manifest = append(manifest, o.Name)
		case o.Name == generationFolder(g.number)+"/claim":
			claim = append(claim, o.Name)
		default:
			others = append(others, o.Name)
		}
	}
	for _, names := range [][]string{manifest, others, claim} {
		if err := s.box.removeObjects(ctx, names); err != nil {
			return err
		}
	}
	return nil
}

// removeUnneededObjects removes the snapshots and log objects of a generation that are needed
// only for moments before retainFrom (unix nanoseconds).
func (s *Shipper) removeUnneededObjects(ctx context.Context, g *backupGeneration, retainFrom int64) error {
	if len(g.runs) == 0 {
		return nil
	}
	r := g.runs[len(g.runs)-1]
	keep := -1 // index of the newest snapshot from before that time
	for i, p := range g.snapshots {
		if r.coversEntry(p.Newest) && r[r.indexOfFirstObjectReaching(p.Newest)].at < retainFrom && p.Oldest+1 >= r.firstEntry() {
			keep = i
		}
	}
	if keep < 0 {
		return nil
	}
	oldest, err := s.oldestLogEntryOrMax()
	if err != nil {
		return err
	}
	needed := min(g.snapshots[keep].Oldest+1, oldest)
	first := 0
	for first+2 < len(r) && r[first+1].last < needed { // keep one more, because a batch may span two objects
		first++
	}
	names := g.namesOfLogObjectsBefore(r[first].first)
	manifests, others := g.objectNamesOfOldestSnapshots(keep)
	if err := s.box.removeObjects(ctx, manifests); err != nil {
		return err
	}
	names = append(names, others...)
	s.gen.snapshots = slices.DeleteFunc(s.gen.snapshots, func(p pieceManifest) bool { return p.Newest < g.snapshots[keep].Newest })
	return s.box.removeObjects(ctx, names)
}

// namesOfLogObjectsBefore lists the log objects that end before entry seq, ordered by their
// last entry, so that an interrupted removal leaves no gap. The list includes small objects
// that were merged into a large one, but whose removal was interrupted.
func (g *backupGeneration) namesOfLogObjectsBefore(seq uint64) []string {
	var old []logObject
	for _, o := range g.objects {
		if e, ok := parseLogObjectName(o); ok && e.last < seq {
			old = append(old, e)
		}
	}
	slices.SortStableFunc(old, func(a, b logObject) int { return cmp.Compare(a.last, b.last) })
	names := make([]string, len(old))
	for i := range old {
		names[i] = old[i].name
	}
	return names
}

// oldestLogEntryOrMax returns the first entry that is still in the exchange's own log, or the highest
// number if the log has no segments. A missing log folder is an error.
func (s *Shipper) oldestLogEntryOrMax() (uint64, error) {
	segments, err := wal.Segments(s.src.Dir)
	if err != nil || len(segments) == 0 {
		return math.MaxUint64, err
	}
	return segments[0].First, nil
}

// objectNamesOfOldestSnapshots lists the objects of the first n snapshots of a generation: their
// manifests and their pieces.
func (g *backupGeneration) objectNamesOfOldestSnapshots(n int) (manifestNames, pieceNames []string) {
	for _, p := range g.snapshots[:n] {
		folder := snapshotFolder(g.number, p.Newest)
		for _, o := range g.objects {
			if of, _ := folderOfManifest(o); of == folder {
				manifestNames = append(manifestNames, o.Name)
			} else if _, below := nameBelowFolder(o.Name, folder); below {
				pieceNames = append(pieceNames, o.Name)
			}
		}
	}
	return manifestNames, pieceNames
}
