package backup

import (
	"cmp"
	"context"
	"math"
	"slices"

	"pingpost/wal"
)

// expire removes what no moment within Retain needs, every so often, or now.
//
// A generation is needed as long as a moment within Retain lies before the next one
// was whole. Of the present one the newest snapshot from before that time is needed,
// and the log from its oldest stamp on; the history that the log itself still keeps is
// left too, so that what is restored can explain as much. The present generation is
// never removed, and none before there is a later one that is whole.
func (s *Shipper) expire(ctx context.Context, now bool) error {
	at := s.opt.now()
	if s.opt.Retain == 0 || (!now && at.Sub(s.swept) < s.opt.expires) || s.gen == nil || s.gen.whole == nil {
		return nil
	}
	all, err := s.box.generations(ctx)
	if err != nil {
		return err
	}
	s.swept = at
	before := at.Add(-s.opt.Retain)
	for i, g := range all {
		later := slices.IndexFunc(all[i+1:], func(g *generation) bool { return g.whole != nil })
		if later < 0 || g.number >= s.gen.number || all[i+1+later].whole.At.After(before) {
			continue
		}
		if err := s.removeGeneration(ctx, g); err != nil {
			return err
		}
		s.opt.Logger.Info("a backup is past its retention and was removed", "to", s.opt.To.String(), "generation", g.number)
	}
	i := slices.IndexFunc(all, func(g *generation) bool { return g.number == s.gen.number })
	if i < 0 {
		return nil
	}
	return s.trim(ctx, all[i], before.UnixNano())
}

// removeGeneration takes its manifest first and its claim last: half of one is none.
func (s *Shipper) removeGeneration(ctx context.Context, g *generation) error {
	var manifest, claim, others []string
	for _, o := range g.objects {
		switch of, _ := wholeOf(o); {
		case of == genName(g.number):
			manifest = append(manifest, o.Name)
		case o.Name == genName(g.number)+"/claim":
			claim = append(claim, o.Name)
		default:
			others = append(others, o.Name)
		}
	}
	for _, names := range [][]string{manifest, others, claim} {
		if err := s.box.remove(ctx, names); err != nil {
			return err
		}
	}
	return nil
}

// trim removes, of a generation, snapshots and log that no moment after before needs.
func (s *Shipper) trim(ctx context.Context, g *generation, before int64) error {
	if len(g.runs) == 0 {
		return nil
	}
	r := g.runs[len(g.runs)-1]
	keep := -1 // the newest snapshot from before
	for i, p := range g.snapshots {
		if r.covers(p.Newest) && r[r.holding(p.Newest)].at < before && p.Oldest+1 >= r.first() {
			keep = i
		}
	}
	if keep < 0 {
		return nil
	}
	oldest, err := s.oldestKept()
	if err != nil {
		return err
	}
	needed := min(g.snapshots[keep].Oldest+1, oldest)
	first := 0
	for first+2 < len(r) && r[first+1].last < needed { // one more stays: a batch may span two
		first++
	}
	names := g.logBefore(r[first].first)
	manifests, others := g.ofSnapshots(keep)
	if err := s.box.remove(ctx, manifests); err != nil {
		return err
	}
	names = append(names, others...)
	s.gen.snapshots = slices.DeleteFunc(s.gen.snapshots, func(p pieces) bool { return p.Newest < g.snapshots[keep].Newest })
	return s.box.remove(ctx, names)
}

// logBefore lists the log objects that end before an entry: also those that a removal
// has left whose larger one goes now. In the order of their ends, so that what
// is left of a removal that breaks off has no gap.
func (g *generation) logBefore(seq uint64) []string {
	var old []extent
	for _, o := range g.objects {
		if e, ok := parseExtent(o); ok && e.last < seq {
			old = append(old, e)
		}
	}
	slices.SortStableFunc(old, func(a, b extent) int { return cmp.Compare(a.last, b.last) })
	names := make([]string, len(old))
	for i := range old {
		names[i] = old[i].name
	}
	return names
}

// oldestKept is the first entry that the log itself still has.
func (s *Shipper) oldestKept() (uint64, error) {
	segments, err := wal.Segments(s.src.Dir)
	if err != nil || len(segments) == 0 {
		return math.MaxUint64, err
	}
	return segments[0].First, nil
}

// ofSnapshots lists the objects of the first n snapshots.
func (g *generation) ofSnapshots(n int) (manifests, others []string) {
	for _, p := range g.snapshots[:n] {
		folder := snapshotFolder(g.number, p.Newest)
		for _, o := range g.objects {
			if of, _ := wholeOf(o); of == folder {
				manifests = append(manifests, o.Name)
			} else if _, below := rest(o.Name, folder); below {
				others = append(others, o.Name)
			}
		}
	}
	return manifests, others
}
