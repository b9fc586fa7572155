package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"pingpost/wal/backup/store"
)

// Repository reads the backups in a store, to list, verify or restore them.
type Repository struct{ box encryptedStore }

// NewRepository returns a Repository for the store. key decrypts the backup; nil means an
// unencrypted backup.
func NewRepository(s store.Store, key *Key) *Repository {
	if key == nil {
		key = new(Key)
	}
	return &Repository{encryptedStore{store: s, key: key}}
}

// Generation describes one copy of a log in the store, with all entries that were added to it
// later.
type Generation struct {
	Number    int
	Epoch     uint32 // life of the log
	Begun     time.Time
	Whole     bool   // it is complete: it has its manifest
	First     uint64 // first entry that can be restored
	Last      uint64 // last entry that can be restored; 0 without one
	LastAt    time.Time
	Snapshots int
	Objects   int
	Bytes     int64 // stored size
	Gaps      int   // number of gaps between entries
	Signed    bool  // its claim has a sum; earlier versions wrote no sums
	Damage    error // why its claim cannot be read; nil if it can
}

// Generations describes all generations in the store, oldest first. It decrypts no object and
// therefore cannot verify checksums.
func (r *Repository) Generations(ctx context.Context) ([]Generation, error) {
	all, err := r.box.readGenerations(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]Generation, 0, len(all))
	for _, g := range all {
		found = append(found, g.summarize())
	}
	return found, nil
}

func (g *backupGeneration) summarize() Generation {
	t := Generation{
		Number: g.number, Epoch: g.claim.Epoch, Begun: g.claim.Begun, Whole: g.completion != nil,
		Snapshots: len(g.snapshots), Objects: len(g.objects), Gaps: max(0, len(g.runs)-1),
		Signed: g.claim.sum != "", Damage: g.unreadable,
	}
	for _, o := range g.objects {
		t.Bytes += o.Size
	}
	last, at := g.lastRestorableEntry()
	if last == 0 {
		return t
	}
	t.Last, t.LastAt = last, time.Unix(0, at).UTC()
	for _, run := range g.runs {
		if !run.coversEntry(last) {
			continue
		}
		if t.First = 1; run.firstEntry() > 1 {
			i := slices.IndexFunc(g.snapshots, func(p pieceManifest) bool { return p.Oldest+1 >= run.firstEntry() })
			t.First = g.snapshots[i].Newest
		}
	}
	return t
}

// readKeyFilesAndSetSumKey reads the exchange's key files from the store. They include the key of
// the checksums, which all later reading needs. The error is ErrEncrypted if decryption needs
// an identity.
func (r *Repository) readKeyFilesAndSetSumKey(ctx context.Context) (map[string][]byte, error) {
	keys, err := r.readMergedKeyFiles(ctx)
	if err != nil {
		return nil, err
	}
	if keys[exchangeKey] == nil {
		return nil, fmt.Errorf("there is no backup in %s: keys/%s is missing", r.box.store, exchangeKey)
	}
	return keys, nil
}

// readMergedKeyFiles returns the content of all key files by name. It returns the newest
// stored version of each file, and zeroes every key that a version of the same size or a list
// shows as erased. It fails if one object is unreadable or damaged.
func (r *Repository) readMergedKeyFiles(ctx context.Context) (map[string][]byte, error) {
	objects, err := r.box.listObjects(ctx, keysFolder)
	if err != nil {
		return nil, err
	}
	// The exchange's key file is first, because the key of the sums derives from it. Of each
	// file, the newest version is first.
	slices.SortStableFunc(objects, func(a, b store.Object) int {
		return cmp.Or(rankExchangeKeyFirst(a)-rankExchangeKeyFirst(b), b.Modified.Compare(a.Modified))
	})
	keys := map[string][]byte{}
	for _, o := range objects {
		name, st, ok := parseKeyFileObjectName(o, keysFolder)
		if !ok {
			continue
		}
		if name == exchangeKey && keys[exchangeKey] == nil {
			root, err := r.box.getWithoutSumCheck(ctx, o.Name, o.Size)
			if err != nil {
				return nil, err
			}
			r.box.sumKey = deriveChecksumKey(root)
		}
		content, err := r.box.get(ctx, keyFileObjectPrefix(keysFolder, name), st)
		if err != nil {
			return nil, err
		}
		if keys[name] == nil {
			keys[name] = content
		} else if len(keys[name]) == len(content) {
			zeroErasedKeys(keys[name], bitmapOfErasedKeys(content))
		}
	}
	return keys, r.zeroKeysListedAsErased(ctx, keys)
}

func rankExchangeKeyFirst(o store.Object) int {
	if strings.HasPrefix(o.Name, keyFileObjectPrefix(keysFolder, exchangeKey)) {
		return 0
	}
	return 1
}

// zeroKeysListedAsErased zeroes every key that the store's lists of erased keys name. keys
// holds the key files' content by file name.
func (r *Repository) zeroKeysListedAsErased(ctx context.Context, keys map[string][]byte) error {
	objects, err := r.box.listObjects(ctx, erasedFolder)
	if err != nil {
		return err
	}
	for _, o := range objects {
		name, st, ok := parseKeyFileObjectName(o, erasedFolder)
		if !ok || keys[name] == nil {
			continue
		}
		erased, err := r.box.get(ctx, keyFileObjectPrefix(erasedFolder, name), st)
		if err != nil {
			return err
		}
		zeroErasedKeys(keys[name], erased)
	}
	return nil
}

// ErrNothing reports that the store has no restorable backup.
var ErrNothing = errors.New("there is no backup that can be restored")

// staysInsideFolder reports whether a file name from the store cannot leave the folder to
// which it is restored, for example with "..".
func staysInsideFolder(name string) bool {
	return name != "" && path.Clean("/"+name) == "/"+name && !strings.Contains(name, "\\")
}
