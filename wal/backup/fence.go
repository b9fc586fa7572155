package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"pingpost/wal/backup/store"
)

// A fence says who may ship into the store. They are numbered, and the last one
// holds: each that begins to ship, and each restore, raises one more, by a create
// that only one can win. A log of an earlier life than the last fence's is an old
// copy, since a restore (or an accepted loss) has begun a new life. Within one life
// the last to begin goes on, and who was before it stops; that both have the same
// entries is seen to by continuity (resume.go).
type fence struct {
	Number int       `json:"-"`
	Epoch  uint32    `json:"epoch"`
	Run    string    `json:"run"` // drawn by who raised it
	Why    string    `json:"why"`
	At     time.Time `json:"at"`

	sum     string // of its object; empty: an earlier program wrote it, without one
	unknown error  // why it cannot be read
}

var (
	// ErrFenced is returned to a copy of an exchange whose life is over: another one
	// was restored, and goes on.
	ErrFenced = errors.New("a later life of this exchange backs up there, so this folder is an old copy. " +
		"Do not serve it: leads would be sold twice. If this copy is the one to go on, give it another place to back up to")
	// ErrTakenOver is returned where another process has begun to ship.
	ErrTakenOver = errors.New("another process has begun to back up there; stop one of them, or give each its own place")
)

const fenceFolder = "fence"

// fences reads all, in their order. One that is removed meanwhile has a later one in its
// place, so that they are listed again.
func (b *box) fences(ctx context.Context) (all []fence, err error) {
	for range 10 {
		if all, err = b.listFences(ctx); !errors.Is(err, store.ErrNotFound) {
			break
		}
	}
	return all, err
}

func (b *box) listFences(ctx context.Context) (all []fence, err error) {
	objects, err := b.list(ctx, fenceFolder)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		number, err := strconv.Atoi(path.Base(o.Name))
		if err != nil {
			continue
		}
		f := fence{Number: number}
		f.sum, f.unknown = b.getOpen(ctx, o.Name, &f)
		if f.unknown != nil && !errors.Is(f.unknown, ErrChanged) {
			return nil, f.unknown
		}
		all = append(all, f)
	}
	return all, nil
}

// fencedLife is the last life that was fenced, 0 without one.
func fencedLife(fences []fence) (epoch uint32, err error) {
	for _, f := range fences {
		if f.unknown != nil {
			return 0, unknownLife(f.unknown)
		}
		epoch = max(epoch, f.Epoch)
	}
	return epoch, nil
}

// refuse returns the error of a life that is over: a fence, or the claim of a generation,
// is of a later one.
func (b *box) refuse(epoch, claimed uint32, fences []fence) error {
	newest, err := fencedLife(fences)
	if err != nil {
		return err
	}
	if newest = max(newest, claimed); epoch < newest {
		return fmt.Errorf("cannot back up to %s in life %d: life %d was begun there: %w", b.store, epoch, newest, ErrFenced)
	}
	return nil
}

// admits is refuse by the fences as they are, and by the generations' claims; it
// returns the highest life of these.
func (b *box) admits(ctx context.Context, epoch uint32, all []*generation) (claimed uint32, err error) {
	fences, err := b.fences(ctx)
	if err == nil {
		claimed, err = claimedLife(all)
	}
	if err == nil {
		err = b.refuse(epoch, claimed, fences)
	}
	return claimed, err
}

// raise raises a fence in the given life, and removes those before it. claimed is the
// highest life that a generation was begun in: each later claim has a fence before it.
func (b *box) raise(ctx context.Context, epoch, claimed uint32, why string, now time.Time) (fence, error) {
	for {
		before, err := b.fences(ctx)
		if err == nil {
			err = b.refuse(epoch, claimed, before)
		}
		if err != nil {
			return fence{}, err
		}
		f := fence{Number: 1, Epoch: epoch, Run: rand.Text(), Why: why, At: now.UTC()}
		old := make([]string, 0, len(before))
		for _, o := range before {
			f.Number = max(f.Number, o.Number+1)
			old = append(old, fenceName(o.Number))
		}
		f.sum, err = b.createOpen(ctx, fenceName(f.Number), &f)
		if errors.Is(err, store.ErrExists) {
			continue
		}
		if err != nil {
			return fence{}, err
		}
		_ = b.remove(ctx, old) // they count for nothing any more; the next one raised removes them
		return f, nil
	}
}

// holds returns nil as long as f is the last fence.
func (b *box) holds(ctx context.Context, f fence) error {
	objects, err := b.list(ctx, fenceFolder)
	if err != nil {
		return err
	}
	if n := len(objects); n > 0 && objects[n-1].Name == fenceName(f.Number) {
		return nil
	}
	all, err := b.generations(ctx)
	if err == nil {
		_, err = b.admits(ctx, f.Epoch, all)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("cannot go on backing up to %s: %w", b.store, ErrTakenOver)
}

func fenceName(number int) string { return fmt.Sprintf("%s/%010d", fenceFolder, number) }
