package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"pingpost/wal"
)

// GenerationCheck is the result of Verify for one generation: the ranges of entries that can
// be restored, and the damage.
type GenerationCheck struct {
	Generation
	Spans    []RestorableSpan
	Entries  uint64
	Files    int
	Problems []error // each names the object
}

// RestorableSpan is a range of log entries. The exchange can be restored up to each entry in it. If the
// range begins with a snapshot, FirstAt may be later than the time of First.
type RestorableSpan struct {
	First, Last     uint64
	FirstAt, LastAt time.Time
}

// Verification is the result of Verify for one or all generations, and for all fences, in a
// store.
type Verification struct {
	Checks   []GenerationCheck // one for each checked generation
	Problems []error           // of fences; each names the object
	Notes    []string          // for the operator; they are not damage
}

// OK reports whether Verify found no damage, and at least one restorable entry in every checked
// generation. It is false if no generation was checked.
func (v *Verification) OK() bool {
	return len(v.Problems) == 0 && len(v.Checks) > 0 && !slices.ContainsFunc(v.Checks, func(c GenerationCheck) bool { return !c.OK() })
}

// Verify reads and checks all key files, all fences, and every object of one generation, or
// of all for number 0. It verifies checksums, the log's continuity, the blocks of snapshots,
// and the hashes in file names. It compares the fences (each permits one process to ship) and
// the generations' claims (each names the life of its log) with each other and with the
// entries.
//
// The Verification lists the damage of fences and generations, and objects of generations that
// the store does not return. Verify returns an error instead for a damaged key file, without
// which it cannot check the rest. It also returns an error for an unknown generation, or if it
// cannot list the store or read a claim, fence or manifest there.
func (r *Repository) Verify(ctx context.Context, number int) (*Verification, error) {
	if _, err := r.readKeyFilesAndSetSumKey(ctx); err != nil {
		return nil, err
	}
	all, err := r.box.readGenerations(ctx)
	if err != nil {
		return nil, err
	}
	v := new(Verification)
	if err := r.checkFences(ctx, all, v); err != nil {
		return nil, err
	}
	for i, g := range all {
		if number != 0 && g.number != number {
			continue
		}
		c := GenerationCheck{Generation: g.summarize(), Problems: g.problems}
		r.checkClaim(g, all[:i], &c, v)
		r.checkAndDropDamagedSnapshots(ctx, g, &c)
		r.checkConfigDocumentsAndLists(ctx, g, &c)
		r.checkLogEntries(ctx, g, &c)
		if err := ctx.Err(); err != nil {
			return v, err
		}
		v.Checks = append(v.Checks, c)
	}
	if len(v.Checks) == 0 && number != 0 {
		return nil, fmt.Errorf("there is no generation %d in %s; pingpost backup list shows the existing ones", number, r.box.store)
	}
	return v, nil
}

// OK reports whether the generation has no damage and at least one restorable entry.
func (c *GenerationCheck) OK() bool { return len(c.Problems) == 0 && len(c.Spans) > 0 }

func (c *GenerationCheck) addProblem(err error) { c.Problems = append(c.Problems, err) }

// checkAndDropDamagedSnapshots reads all snapshots of a generation and adds the damage to c. It removes
// damaged snapshots from g, so that the later check of restorable ranges ignores them.
func (r *Repository) checkAndDropDamagedSnapshots(ctx context.Context, g *backupGeneration, c *GenerationCheck) {
	var good []pieceManifest
	for i := range g.snapshots {
		p := &g.snapshots[i]
		folder := snapshotFolder(g.number, p.Newest)
		read := g.openPieces(ctx, folder, p)
		info, err := wal.CheckSnapshot(read)
		err = errors.Join(err, read.Close())
		if err == nil && (info.Newest != p.Newest || info.LastInAllSections != p.Oldest) {
			err = fmt.Errorf("the oldest and newest entries in its manifest are not those in the snapshot")
		}
		if err != nil {
			c.addProblem(fmt.Errorf("%s: %w", folder, err))
			continue
		}
		good = append(good, *p)
	}
	g.snapshots = good
}

func (r *Repository) checkConfigDocumentsAndLists(ctx context.Context, g *backupGeneration, c *GenerationCheck) {
	for name, manifest := range g.files {
		folder := generationFolder(g.number) + "/file/" + name
		var whole pieceManifest
		hash := sha256.New()
		err := g.getManifestSignedLikeClaim(ctx, manifest, &whole)
		if err == nil {
			err = g.box.copyPieces(ctx, folder, &whole, hash)
		}
		base, _, _ := strings.Cut(path.Base(name), ".")
		if err == nil && len(base) == 2*sha256.Size && base != hex.EncodeToString(hash.Sum(nil)) {
			err = fmt.Errorf("its content does not match the hash in its name")
		}
		if err != nil {
			c.addProblem(fmt.Errorf("%s: %w", folder, err))
			continue
		}
		c.Files++
	}
}

// checkLogEntries reads all log entries of a generation. It adds damage and the restorable
// ranges to c. After damage a new range begins.
func (r *Repository) checkLogEntries(ctx context.Context, g *backupGeneration, c *GenerationCheck) {
	if c.Gaps > 0 {
		c.addProblem(fmt.Errorf("%s: log entries are missing from the backup in %d places", generationFolder(g.number)+"/log", c.Gaps))
	}
	for _, whole := range g.runs {
		var span RestorableSpan
		var good contiguousObjects
		end := func() {
			if len(good) > 0 {
				c.addSpanIfRestorable(g, good, span)
			}
			span, good = RestorableSpan{}, nil
		}
		for _, e := range whole {
			at, err := g.checkLogObject(ctx, e, span.LastAt)
			if err != nil {
				c.addProblem(err)
				end()
				continue
			}
			if len(good) == 0 {
				span.FirstAt = at[0]
			}
			good, span.LastAt = append(good, e), at[1]
			c.Entries += e.last - e.first + 1
		}
		end()
	}
}

// checkLogObject reads one log object and returns the times of its first and last entry. It
// returns an error if a time is before that of the preceding entry, if an entry is of a later
// life than the generation's claim, or if the last time differs from that in the object's
// name. previousAt is the time of the last entry before the object.
func (g *backupGeneration) checkLogObject(ctx context.Context, e logObject, previousAt time.Time) (firstAndLast [2]time.Time, err error) {
	err = g.readLogObject(ctx, e, func(entry *wal.Entry) error {
		firstAndLast[1] = time.Unix(0, entry.At).UTC()
		if firstAndLast[0].IsZero() {
			firstAndLast[0] = firstAndLast[1]
		}
		if firstAndLast[1].Before(previousAt) {
			return fmt.Errorf("%s: this log object of the backup is damaged, because its entry %d has an earlier time than the entry before it", e.name, entry.Seq)
		}
		if entry.Epoch > g.claim.Epoch {
			return fmt.Errorf("%s: entry %d is of life %d, but the generation's claim says %d", e.name, entry.Seq, entry.Epoch, g.claim.Epoch)
		}
		previousAt = firstAndLast[1]
		return nil
	})
	if err == nil && firstAndLast[1].UnixNano() != e.at {
		err = fmt.Errorf("%s: this log object of the backup is damaged or was renamed, because its last entry has another time than its name says", e.name)
	}
	return firstAndLast, err
}

// addSpanIfRestorable adds to c the part of the undamaged log objects `good` that can be
// restored. Without the log's first entry, this part begins at the oldest usable snapshot.
func (c *GenerationCheck) addSpanIfRestorable(g *backupGeneration, good contiguousObjects, span RestorableSpan) {
	span.First, span.Last = good.firstEntry(), good.lastEntry()
	if span.First > 1 {
		first := uint64(0)
		for _, p := range g.snapshots {
			if p.Oldest+1 >= span.First && p.Newest <= span.Last && (first == 0 || p.Newest < first) {
				first = p.Newest
			}
		}
		if first == 0 {
			return
		}
		span.First, span.FirstAt = first, time.Unix(0, good[good.indexOfFirstObjectReaching(first)].at).UTC()
	}
	c.Spans = append(c.Spans, span)
}
