package backup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"pingpost/wal/backup/store"
)

// A Repository reads what shippers have put into a store.
type Repository struct{ box box }

// NewRepository opens a store for reading. key is nil where it is unencrypted.
func NewRepository(s store.Store, key *Key) *Repository {
	if key == nil {
		key = new(Key)
	}
	return &Repository{box{store: s, key: key}}
}

// A Generation is one whole copy, and what was added to it since.
type Generation struct {
	Number    int
	Epoch     uint32 // life of the log
	Begun     time.Time
	Whole     bool
	First     uint64 // first entry that can be restored
	Last      uint64 // the last one; 0 where there is none
	LastAt    time.Time
	Snapshots int
	Objects   int
	Bytes     int64 // as they are stored
	Gaps      int   // where entries are missing
	Signed    bool  // its claim has a sum; an earlier program wrote none
	Damage    error // why its claim cannot be read; nil where it can
}

// Generations lists all, the oldest first. It needs no key, and so checks no sums.
func (r *Repository) Generations(ctx context.Context) ([]Generation, error) {
	all, err := r.box.generations(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]Generation, 0, len(all))
	for _, g := range all {
		found = append(found, g.told())
	}
	return found, nil
}

func (g *generation) told() Generation {
	t := Generation{
		Number: g.number, Epoch: g.claim.Epoch, Begun: g.claim.Begun, Whole: g.whole != nil,
		Snapshots: len(g.snapshots), Objects: len(g.objects), Gaps: max(0, len(g.runs)-1),
		Signed: g.claim.sum != "", Damage: g.unknown,
	}
	for _, o := range g.objects {
		t.Bytes += o.Size
	}
	last, at := g.end()
	if last == 0 {
		return t
	}
	t.Last, t.LastAt = last, time.Unix(0, at).UTC()
	for _, run := range g.runs {
		if !run.covers(last) {
			continue
		}
		if t.First = 1; run.first() > 1 {
			i := slices.IndexFunc(g.snapshots, func(p pieces) bool { return p.Oldest+1 >= run.first() })
			t.First = g.snapshots[i].Newest
		}
	}
	return t
}

// open reads the keys, by which all else is checked. The error is ErrEncrypted where
// an identity is needed.
func (r *Repository) open(ctx context.Context) (map[string][]byte, error) {
	keys, err := r.readKeys(ctx)
	if err != nil {
		return nil, err
	}
	if keys[rootKey] == nil {
		return nil, fmt.Errorf("there is no backup in %s: keys/%s is missing", r.box.store, rootKey)
	}
	return keys, nil
}

// readKeys gets all key files, each as its versions and the erasures make it.
func (r *Repository) readKeys(ctx context.Context) (map[string][]byte, error) {
	objects, err := r.box.list(ctx, keysFolder)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(objects, func(a, b store.Object) int { return b.Modified.Compare(a.Modified) }) // the newest first
	// The sums' key is in one of the files, so that one comes first.
	slices.SortStableFunc(objects, func(a, b store.Object) int {
		return rank(a) - rank(b)
	})
	keys := map[string][]byte{}
	for _, o := range objects {
		name, st, ok := parseKey(o, keysFolder)
		if !ok {
			continue
		}
		if name == rootKey && keys[rootKey] == nil {
			root, err := r.box.fetch(ctx, o.Name, o.Size)
			if err != nil {
				return nil, err
			}
			r.box.names = namesKey(root)
		}
		content, err := r.box.get(ctx, keyPlace(keysFolder, name), st)
		if err != nil {
			return nil, err
		}
		if keys[name] == nil {
			keys[name] = content
		} else if len(keys[name]) == len(content) {
			erase(keys[name], zeros(content))
		}
	}
	return keys, r.applyErasures(ctx, keys)
}

func rank(o store.Object) int {
	if strings.HasPrefix(o.Name, keyPlace(keysFolder, rootKey)) {
		return 0
	}
	return 1
}

// applyErasures zeroes every key that was ever seen erased.
func (r *Repository) applyErasures(ctx context.Context, keys map[string][]byte) error {
	objects, err := r.box.list(ctx, erasedFolder)
	if err != nil {
		return err
	}
	for _, o := range objects {
		name, st, ok := parseKey(o, erasedFolder)
		if !ok || keys[name] == nil {
			continue
		}
		erased, err := r.box.get(ctx, keyPlace(erasedFolder, name), st)
		if err != nil {
			return err
		}
		erase(keys[name], erased)
	}
	return nil
}

// ErrNothing is returned where there is nothing that could be restored.
var ErrNothing = errors.New("there is nothing that could be restored")

// safeName refuses names that would lead out of a folder.
func safeName(name string) bool {
	return name != "" && path.Clean("/"+name) == "/"+name && !strings.Contains(name, "\\")
}
