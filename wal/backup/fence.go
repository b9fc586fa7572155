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

// fences reads all, in their order.
func (b *box) fences(ctx context.Context) ([]fence, error) {
	objects, err := b.list(ctx, fenceFolder)
	if err != nil {
		return nil, err
	}
	var all []fence
	for _, o := range objects {
		number, err := strconv.Atoi(path.Base(o.Name))
		if err != nil {
			continue
		}
		f := fence{Number: number}
		err = b.getOpen(ctx, o.Name, &f)
		if errors.Is(err, store.ErrNotFound) {
			continue // a later one has taken its place
		}
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// highest is the last life that was fenced, 0 without one.
func highest(fences []fence) (epoch uint32) {
	for _, f := range fences {
		epoch = max(epoch, f.Epoch)
	}
	return epoch
}

func (b *box) refuse(epoch uint32, fences []fence) error {
	if newest := highest(fences); epoch < newest {
		return fmt.Errorf("cannot back up to %s in life %d: life %d was begun there: %w", b.store, epoch, newest, ErrFenced)
	}
	return nil
}

// raise raises a fence in the given life, and removes those before it.
func (b *box) raise(ctx context.Context, epoch uint32, why string, now time.Time) (fence, error) {
	for {
		before, err := b.fences(ctx)
		if err == nil {
			err = b.refuse(epoch, before)
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
		err = b.createOpen(ctx, fenceName(f.Number), &f)
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
	now, err := b.fences(ctx)
	if err == nil {
		err = b.refuse(f.Epoch, now)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("cannot go on backing up to %s: %w", b.store, ErrTakenOver)
}

func fenceName(number int) string { return fmt.Sprintf("%s/%010d", fenceFolder, number) }
