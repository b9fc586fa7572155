package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pingpost/wal"
)

// RestorePoint is the moment to restore: entry Seq, a time, or, if both are zero, the last
// entry.
type RestorePoint struct {
	Seq  uint64
	Time time.Time // the last entry at or before this time
}

// ParseRestorePoint parses `latest`, an entry number, or an RFC 3339 time.
func ParseRestorePoint(text string) (RestorePoint, error) {
	if text == "latest" {
		return RestorePoint{}, nil
	}
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil && seq > 0 {
		return RestorePoint{Seq: seq}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.IsZero() {
		return RestorePoint{}, fmt.Errorf("%q is not a moment to restore: give latest, an entry number, or a time such as 2026-11-20T17:00:00Z", text)
	}
	return RestorePoint{Time: at}, nil
}

func (point RestorePoint) String() string {
	switch {
	case point.Seq > 0:
		return fmt.Sprintf("entry %d", point.Seq)
	case !point.Time.IsZero():
		return point.Time.Format(time.RFC3339Nano)
	}
	return "the last entry"
}

// restorePlan says how to restore up to entry seq: the generation, its run of log objects,
// and the snapshot from which the log is replayed.
type restorePlan struct {
	gen      *backupGeneration
	run      contiguousObjects
	seq      uint64
	snapshot *pieceManifest // nil: from the log's first entry
}

// generationsReachingOrFurthest returns the generations that end at or after the restore point, the
// latest generation first. If no generation reaches that far, or if the point is the last
// entry, it returns the one that reaches furthest in time. If the exchange was restored once,
// the later life (log epoch) therefore comes before the entries that the restore discarded. A
// value of onlyGeneration other than 0 selects that generation alone.
func (r *Repository) generationsReachingOrFurthest(ctx context.Context, point RestorePoint, onlyGeneration int) ([]*backupGeneration, error) {
	all, err := r.box.readGenerations(ctx)
	if err != nil {
		return nil, err
	}
	var reach []*backupGeneration
	var unknown error
	var furthest *backupGeneration
	var end int64
	for _, g := range slices.Backward(all) {
		if onlyGeneration == 0 || g.number == onlyGeneration {
			unknown = errors.Join(unknown, g.unreadable)
		}
		seq, at := g.lastRestorableEntry()
		if seq == 0 || (onlyGeneration != 0 && g.number != onlyGeneration) {
			continue
		}
		if (point.Seq > 0 && seq >= point.Seq) || (!point.Time.IsZero() && at >= point.Time.UnixNano()) {
			reach = append(reach, g)
		}
		if furthest == nil || at > end {
			furthest, end = g, at
		}
	}
	if furthest == nil && unknown != nil {
		return nil, unknown
	}
	if furthest == nil {
		return nil, fmt.Errorf("%w in %s", ErrNothing, r.box.store)
	}
	if len(reach) == 0 {
		reach = append(reach, furthest)
	}
	return reach, nil
}

// planRestore returns the plan for restoring the given point. It tries the generations that reach the
// point, the latest first, or else the one that reaches furthest. A value of onlyGeneration other than
// 0 selects one generation.
func (r *Repository) planRestore(ctx context.Context, point RestorePoint, onlyGeneration int) (*restorePlan, error) {
	candidates, err := r.generationsReachingOrFurthest(ctx, point, onlyGeneration)
	if err != nil {
		return nil, err
	}
	var why error
	for _, g := range candidates {
		p, err := r.planRestoreFrom(ctx, point, g)
		if err == nil {
			return p, nil
		}
		why = errors.Join(why, err)
	}
	return nil, why
}

func (r *Repository) planRestoreFrom(ctx context.Context, point RestorePoint, g *backupGeneration) (p *restorePlan, err error) {
	last, _ := g.lastRestorableEntry()
	p = &restorePlan{gen: g, seq: last}
	switch {
	case point.Seq > last:
		return nil, fmt.Errorf("entry %d cannot be restored: generation %d of the backup in %s ends with entry %d", point.Seq, g.number, r.box.store, last)
	case point.Seq > 0:
		p.seq = point.Seq
	case !point.Time.IsZero():
		if p.seq, err = r.lastEntryAtOrBefore(ctx, g, point.Time.UnixNano()); err != nil {
			return nil, err
		}
	}
	var ok bool
	if p.run, ok = g.logObjectsToRestoreEntry(p.seq); !ok {
		return nil, fmt.Errorf("%s cannot be restored from generation %d: no snapshot in it is old enough, or entries are missing before it", point, g.number)
	}
	p.snapshot, _ = g.newestSnapshotFor(p.run, p.seq)
	return p, nil
}

// lastEntryAtOrBefore returns the last entry of a generation whose time is at or before `at` (unix
// nanoseconds). It returns an error if the generation begins later.
func (r *Repository) lastEntryAtOrBefore(ctx context.Context, g *backupGeneration, at int64) (uint64, error) {
	for _, run := range g.runs {
		for i, e := range run {
			if e.at <= at {
				continue
			}
			seq := e.first - 1
			err := g.readLogObject(ctx, e, func(e *wal.Entry) error {
				if e.At > at {
					return errStop
				}
				seq = e.Seq
				return nil
			})
			if err != nil && !errors.Is(err, errStop) {
				return 0, err
			}
			if seq < run.firstEntry() && i == 0 {
				return 0, fmt.Errorf("generation %d of the backup begins after that time, with entry %d; choose a later time", g.number, run.firstEntry())
			}
			return seq, nil
		}
	}
	last, _ := g.lastRestorableEntry()
	return last, nil
}
