package backup

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"pingpost/wal/backup/store"
)

// shipperFence is an object in the store that permits one process to ship into the store. Fences are
// numbered, and only the one with the highest number is valid. Each start of shipping and
// each restore, except a drill, creates the next fence. Only one process can create each
// number.
//
// A fence names the log's life (its epoch), which rises with each restore and each accepted
// loss. A log of an earlier life than the last fence is an old copy and may not ship. Within
// one life, the last process to begin continues and the earlier one stops. The continuity
// check (resume.go) ensures that both have the same entries.
type shipperFence struct {
	Number int       `json:"-"`
	Epoch  uint32    `json:"epoch"`
	Run    string    `json:"run"` // random id of the process that created it
	Why    string    `json:"why"`
	At     time.Time `json:"at"`

	sum        string // of its object; empty if an earlier version wrote it
	unreadable error  // why the object cannot be read; nil if it can
}

var (
	// ErrFenced reports that this copy of an exchange is superseded: another copy was
	// restored and continues.
	ErrFenced = errors.New("a later life of this exchange backs up there, so this folder is an old copy. " +
		"Do not serve it: leads would be sold twice. If this copy is the one to continue, give it another backup place")
	// ErrTakenOver reports that another process has begun to ship.
	ErrTakenOver = errors.New("another process has begun to back up there; stop one of them, or give each its own place")
)

const fenceFolder = "fence"

// readAllFences returns all fences in the store, ordered by number. A changed fence has only
// its number and the error unreadable. If a fence disappears between the listing and its
// reading, a later fence has replaced it. readAllFences then starts over, up to ten times.
func (b *encryptedStore) readAllFences(ctx context.Context) (all []shipperFence, err error) {
	for range 10 {
		if all, err = b.tryReadFences(ctx); !errors.Is(err, store.ErrNotFound) {
			break
		}
	}
	return all, err
}

func (b *encryptedStore) tryReadFences(ctx context.Context) (all []shipperFence, err error) {
	objects, err := b.listObjects(ctx, fenceFolder)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		number, err := strconv.Atoi(path.Base(o.Name))
		if err != nil {
			continue
		}
		f := shipperFence{Number: number}
		f.sum, f.unreadable = b.getWithSum(ctx, o.Name, &f)
		if f.unreadable != nil && !errors.Is(f.unreadable, ErrChanged) {
			return nil, f.unreadable
		}
		all = append(all, f)
	}
	return all, nil
}

// highestEpoch returns the highest life (log epoch) that a fence or a generation's claim
// names, or 0. It returns an error if one of them is unreadable, because it could name a
// higher life. The claims protect against old copies even if the fences were removed.
func highestEpoch(fences []shipperFence, generations []*backupGeneration) (life uint32, err error) {
	for _, f := range fences {
		life, err = max(life, f.Epoch), cmp.Or(err, f.unreadable)
	}
	for _, g := range generations {
		life, err = max(life, g.claim.Epoch), cmp.Or(err, g.unreadable)
	}
	if err != nil {
		return 0, unknownHighestEpochError(err)
	}
	return life, nil
}

// readFencesUnlessSuperseded reads the fences. It returns ErrFenced if a fence or a claim
// names a later life than epoch, because the log is then an old copy.
func (b *encryptedStore) readFencesUnlessSuperseded(ctx context.Context, epoch uint32, generations []*backupGeneration) ([]shipperFence, error) {
	fences, err := b.readAllFences(ctx)
	if err != nil {
		return nil, err
	}
	highest, err := highestEpoch(fences, generations)
	if err == nil && epoch < highest {
		err = fmt.Errorf("cannot back up to %s in life %d: life %d was begun there: %w", b.store, epoch, highest, ErrFenced)
	}
	return fences, err
}

// createNextFence creates the fence with the next number, for the life (log epoch) `epoch`, and
// removes the earlier fences. It returns ErrFenced if a fence, or the claim of one of the generations,
// names a later life. A generation that another process claimed since the caller listed them
// is not missed: a process creates its fence first, and the fence names its life.
func (b *encryptedStore) createNextFence(ctx context.Context, epoch uint32, generations []*backupGeneration, reason string, now time.Time) (shipperFence, error) {
	for {
		before, err := b.readFencesUnlessSuperseded(ctx, epoch, generations)
		if err != nil {
			return shipperFence{}, err
		}
		f := shipperFence{Number: 1, Epoch: epoch, Run: rand.Text(), Why: reason, At: now.UTC()}
		old := make([]string, 0, len(before))
		for _, o := range before {
			f.Number = max(f.Number, o.Number+1)
			old = append(old, fenceName(o.Number))
		}
		f.sum, err = b.createSignedObject(ctx, fenceName(f.Number), &f)
		if errors.Is(err, store.ErrExists) {
			continue
		}
		if err != nil {
			return shipperFence{}, err
		}
		_ = b.removeObjects(ctx, old) // ignore the error: old fences have no effect, and the next call removes them
		return f, nil
	}
}

// checkStillLastFence returns ErrFenced or ErrTakenOver unless f is the last fence in the
// store. The shipper must then stop, because another process ships, a restore has begun, or
// the fence was removed.
func (b *encryptedStore) checkStillLastFence(ctx context.Context, f shipperFence) error {
	objects, err := b.listObjects(ctx, fenceFolder)
	if err != nil {
		return err
	}
	if n := len(objects); n > 0 && objects[n-1].Name == fenceName(f.Number) {
		return nil
	}
	all, err := b.readGenerations(ctx)
	if err == nil {
		_, err = b.readFencesUnlessSuperseded(ctx, f.Epoch, all)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("cannot continue the backup to %s: %w", b.store, ErrTakenOver)
}

func fenceName(number int) string { return fmt.Sprintf("%s/%010d", fenceFolder, number) }
