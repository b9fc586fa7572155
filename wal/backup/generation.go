package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/wal/backup/store"
)

// A claim begins a generation.
type claim struct {
	Epoch uint32    `json:"epoch"`
	First uint64    `json:"first"` // entry that the log began with
	Begun time.Time `json:"begun"`
	// Sealed says that it is encrypted, as then all is, key files too.
	Sealed bool `json:"sealed"`

	sum string // of its object; empty: an earlier program wrote it, without one
}

// A manifest says that a generation is whole: that it had, at a time, all that the
// log had. What is shipped later needs no manifest: see extent.
type manifest struct {
	Last uint64    `json:"last"` // entry
	At   time.Time `json:"at"`
}

// A pieces is the manifest of a file that was shipped in pieces.
type pieces struct {
	Names  []string `json:"names"` // of the objects, in order, below the file's folder
	Size   int64    `json:"size"`
	Oldest uint64   `json:"oldest,omitempty"` // of a snapshot: its stamps
	Newest uint64   `json:"newest,omitempty"`
}

// A generation is what a listing says of one.
type generation struct {
	number    int
	claim     claim
	unknown   error   // why the claim cannot be read; what the generation has is then unknown too
	problems  []error // of its manifests, which count for none
	box       box     // that its objects are in, but for the claim
	whole     *manifest
	runs      []run
	snapshots []pieces          // in order of their newest stamps
	files     map[string]string // <folder>/<name> of those that are whole, and their manifests
	objects   []store.Object
}

const genFolder = "gen"

func genName(number int) string { return fmt.Sprintf("%s/%010d", genFolder, number) }

// generations lists all that were claimed, in order.
func (b *box) generations(ctx context.Context) ([]*generation, error) {
	objects, err := b.list(ctx, genFolder)
	if err != nil {
		return nil, err
	}
	byNumber := map[int]*generation{}
	for _, o := range objects {
		digits, _, _ := strings.Cut(strings.TrimPrefix(o.Name, genFolder+"/"), "/")
		number, err := strconv.Atoi(digits)
		if err != nil {
			continue
		}
		if byNumber[number] == nil {
			byNumber[number] = &generation{number: number, files: map[string]string{}}
		}
		byNumber[number].objects = append(byNumber[number].objects, o)
	}
	var all []*generation
	for _, g := range byNumber {
		err := b.readGeneration(ctx, g)
		if errors.Is(err, store.ErrNotFound) {
			continue // it is being removed
		}
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *generation) int { return cmp.Compare(a.number, b.number) })
	return all, nil
}

func (b *box) readGeneration(ctx context.Context, g *generation) error {
	folder := genName(g.number)
	var err error
	g.claim.sum, err = b.getOpen(ctx, folder+"/claim", &g.claim)
	if errors.Is(err, ErrChanged) {
		g.unknown = err
		return nil
	}
	if err != nil {
		return err
	}
	g.box = b.under(&g.claim)
	var extents []extent
	for _, o := range g.objects {
		name, _ := rest(o.Name, folder)
		of, isWhole := wholeOf(o)
		switch {
		case of == folder:
			var m manifest
			if ok, err := g.hasManifest(ctx, o.Name, &m); err != nil {
				return err
			} else if ok {
				g.whole = &m
			}
		case strings.HasPrefix(name, "log/"):
			if e, ok := parseExtent(o); ok {
				extents = append(extents, e)
			}
		case isWhole && strings.HasPrefix(name, "snapshot/"):
			var p pieces
			if ok, err := g.hasManifest(ctx, o.Name, &p); err != nil {
				return err
			} else if ok {
				g.snapshots = append(g.snapshots, p)
			}
		case isWhole && strings.HasPrefix(name, "file/"):
			g.files[strings.TrimPrefix(of, folder+"/file/")] = o.Name
		}
	}
	g.runs = runs(extents)
	return nil
}

// hasManifest reads a manifest; ok is false where it was changed, which is noted.
func (g *generation) hasManifest(ctx context.Context, name string, value any) (ok bool, err error) {
	err = g.getManifest(ctx, name, value)
	if errors.Is(err, ErrChanged) {
		g.problems = append(g.problems, err)
		return false, nil
	}
	return err == nil, err
}

// claimedLife is the highest life that a generation was begun in, 0 without one. Where
// the fences were removed it is still known by this.
func claimedLife(all []*generation) (epoch uint32, err error) {
	for _, g := range all {
		if g.unknown != nil {
			return 0, unknownLife(g.unknown)
		}
		epoch = max(epoch, g.claim.Epoch)
	}
	return epoch, nil
}

// basis is the newest snapshot from which entry seq can be reached within a run; ok
// is false where there is none and the run does not begin with the log's first entry.
func (g *generation) basis(r run, seq uint64) (snapshot *pieces, ok bool) {
	for i := range slices.Backward(g.snapshots) {
		if s := &g.snapshots[i]; s.Newest <= seq && s.Oldest+1 >= r.first() {
			return s, true
		}
	}
	return nil, r.first() == 1
}

// reaches is the run by which entry seq can be restored.
func (g *generation) reaches(seq uint64) (run, bool) {
	for _, r := range g.runs {
		if _, ok := g.basis(r, seq); ok && r.covers(seq) {
			return r, true
		}
	}
	return nil, false
}

// end is the last entry that can be restored, and its time.
func (g *generation) end() (seq uint64, at int64) {
	for _, r := range slices.Backward(g.runs) {
		if _, ok := g.basis(r, r.last()); ok {
			return r.last(), r.lastAt()
		}
	}
	return 0, 0
}
