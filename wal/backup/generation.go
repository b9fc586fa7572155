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

// generationClaim is the first object of a generation, which is one copy of the log. It
// records the life of the log (Epoch) and the first entry at that time.
type generationClaim struct {
	Epoch uint32    `json:"epoch"`
	First uint64    `json:"first"` // first entry of the log at that time
	Begun time.Time `json:"begun"`
	// Sealed reports whether the generation and the key files are encrypted.
	Sealed bool `json:"sealed"`

	sum string // of its object; empty if an earlier version wrote it
}

// generationCompleteMarker marks a generation as complete: at time At, the store had all entries of
// the log up to Last. Log objects that are added later need no manifest.
type generationCompleteMarker struct {
	Last uint64    `json:"last"` // entry
	At   time.Time `json:"at"`
}

// pieceManifest lists the objects that together hold one file, which was shipped in pieces.
type pieceManifest struct {
	Names  []string `json:"names"` // of the objects, in order, below the file's folder
	Size   int64    `json:"size"`
	Oldest uint64   `json:"oldest,omitempty"` // of a snapshot: LastInAllSections of wal.SnapshotInfo
	Newest uint64   `json:"newest,omitempty"`
}

// backupGeneration is one copy of the log in the store, as read from the listing of its objects, and
// from its claim and manifests.
type backupGeneration struct {
	number     int
	claim      generationClaim
	unreadable error                     // why the claim cannot be read; the content is then unknown
	problems   []error                   // of changed manifests, which are ignored
	box        encryptedStore            // for all objects except the claim
	completion *generationCompleteMarker // nil: the generation is not complete yet
	runs       []contiguousObjects
	snapshots  []pieceManifest   // complete ones, ordered by Newest
	files      map[string]string // <folder>/<name> of complete files to their manifests
	objects    []store.Object
}

const genFolder = "gen"

func generationFolder(number int) string { return fmt.Sprintf("%s/%010d", genFolder, number) }

// readGenerations reads the claims of all generations in the store, and the manifests of
// generations and snapshots. It returns the generations in ascending order. It skips a
// generation without a claim, because that one is being removed.
func (b *encryptedStore) readGenerations(ctx context.Context) ([]*backupGeneration, error) {
	objects, err := b.listObjects(ctx, genFolder)
	if err != nil {
		return nil, err
	}
	byNumber := map[int]*backupGeneration{}
	for _, o := range objects {
		digits, _, _ := strings.Cut(strings.TrimPrefix(o.Name, genFolder+"/"), "/")
		number, err := strconv.Atoi(digits)
		if err != nil {
			continue
		}
		if byNumber[number] == nil {
			byNumber[number] = &backupGeneration{number: number, files: map[string]string{}}
		}
		byNumber[number].objects = append(byNumber[number].objects, o)
	}
	var all []*backupGeneration
	for _, g := range byNumber {
		err := b.readClaimAndManifests(ctx, g)
		if errors.Is(err, store.ErrNotFound) {
			continue // it is being removed
		}
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *backupGeneration) int { return cmp.Compare(a.number, b.number) })
	return all, nil
}

// readClaimAndManifests reads the claim of generation g, and the manifests of g and of its
// snapshots. It sorts the listed objects of g by their names into g.runs, g.snapshots and
// g.files. It reads no log object, snapshot or file. A changed claim is not an error; it sets
// g.unreadable.
func (b *encryptedStore) readClaimAndManifests(ctx context.Context, g *backupGeneration) error {
	folder := generationFolder(g.number)
	var err error
	g.claim.sum, err = b.getWithSum(ctx, folder+"/claim", &g.claim)
	if errors.Is(err, ErrChanged) {
		g.unreadable = err
		return nil
	}
	if err != nil {
		return err
	}
	g.box = b.withChecksumKeyFromClaim(&g.claim)
	var extents []logObject
	for _, o := range g.objects {
		name, _ := nameBelowFolder(o.Name, folder)
		of, isWhole := folderOfManifest(o)
		switch {
		case of == folder:
			var m generationCompleteMarker
			if ok, err := g.readManifestOrRecordIfChanged(ctx, o.Name, &m); err != nil {
				return err
			} else if ok {
				g.completion = &m
			}
		case strings.HasPrefix(name, "log/"):
			if e, ok := parseLogObjectName(o); ok {
				extents = append(extents, e)
			}
		case isWhole && strings.HasPrefix(name, "snapshot/"):
			var p pieceManifest
			if ok, err := g.readManifestOrRecordIfChanged(ctx, o.Name, &p); err != nil {
				return err
			} else if ok {
				g.snapshots = append(g.snapshots, p)
			}
		case isWhole && strings.HasPrefix(name, "file/"):
			g.files[strings.TrimPrefix(of, folder+"/file/")] = o.Name
		}
	}
	g.runs = groupContiguous(extents)
	return nil
}

// readManifestOrRecordIfChanged reads a manifest into value. If its checksum shows that the
// manifest was changed, it adds the error to g.problems and returns ok false without an
// error.
func (g *backupGeneration) readManifestOrRecordIfChanged(ctx context.Context, name string, value any) (ok bool, err error) {
	err = g.getManifestSignedLikeClaim(ctx, name, value)
	if errors.Is(err, ErrChanged) {
		g.problems = append(g.problems, err)
		return false, nil
	}
	return err == nil, err
}

// newestSnapshotFor returns the newest snapshot from which a replay of the log objects r can restore
// entry seq. If no snapshot fits, snapshot is nil, and restorable reports whether r begins with the
// log's first entry.
func (g *backupGeneration) newestSnapshotFor(r contiguousObjects, seq uint64) (snapshot *pieceManifest, restorable bool) {
	for i := range slices.Backward(g.snapshots) {
		if s := &g.snapshots[i]; s.Newest <= seq && s.Oldest+1 >= r.firstEntry() {
			return s, true
		}
	}
	return nil, r.firstEntry() == 1
}

// logObjectsToRestoreEntry returns the gapless series of log objects (run) from which entry seq can be
// restored. It returns false if the entry cannot be restored.
func (g *backupGeneration) logObjectsToRestoreEntry(seq uint64) (contiguousObjects, bool) {
	for _, r := range g.runs {
		if _, ok := g.newestSnapshotFor(r, seq); ok && r.coversEntry(seq) {
			return r, true
		}
	}
	return nil, false
}

// lastRestorableEntry returns the last entry that can be restored from the generation, and its time in unix
// nanoseconds. Both are 0 if no entry can be restored.
func (g *backupGeneration) lastRestorableEntry() (seq uint64, at int64) {
	for _, r := range slices.Backward(g.runs) {
		if _, ok := g.newestSnapshotFor(r, r.lastEntry()); ok {
			return r.lastEntry(), r.lastEntryTime()
		}
	}
	return 0, 0
}
