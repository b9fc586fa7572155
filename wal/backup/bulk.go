package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"pingpost/wal"
)

// A snapshot is shipped by a goroutine of its own, one at a time; it touches nothing
// of the shipper's but the pace, and leaves its manifest in the channel's
// wake: bulkNow is read only after the channel has spoken.

func (s *Shipper) beginBulk(ctx context.Context, info wal.SnapshotInfo) {
	ctx, s.stopBulk = context.WithCancel(ctx)
	done := make(chan error, 1)
	s.bulk, s.bulkNow = done, pieces{Newest: info.Newest}
	slow := s.gen.box
	slow.store = s.slow
	c := &cutter{
		ctx: ctx, box: &slow, pace: s.pace,
		folder: snapshotFolder(s.gen.number, info.Newest),
	}
	into := &s.bulkNow
	go func() {
		err := shipSnapshot(c, info)
		if err == nil {
			*into = c.pieces
		}
		done <- err
	}()
}

func snapshotFolder(generation int, newest uint64) string {
	return fmt.Sprintf("%s/snapshot/%020d", genName(generation), newest)
}

// shipSnapshot ships a snapshot file that is whole.
func shipSnapshot(c *cutter, info wal.SnapshotInfo) error {
	f, err := openListed(info.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := wal.CheckSnapshot(io.TeeReader(f, c))
	if c.failed != nil {
		return c.failed
	}
	if err != nil {
		return fmt.Errorf("cannot back up %q: %w", info.Path, err)
	}
	c.pieces.Oldest, c.pieces.Newest = found.Oldest, found.Newest
	return c.finish()
}

// lookAtBulk takes in what has ended.
func (s *Shipper) lookAtBulk() error {
	select {
	case err := <-s.bulk: // never, without one
		return s.bulkEnded(err)
	default:
		return nil
	}
}

func (s *Shipper) awaitBulk(ctx context.Context) error {
	select {
	case err := <-s.bulk:
		return s.bulkEnded(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Shipper) bulkEnded(err error) error {
	s.stopBulk()
	s.bulk = nil
	if errors.Is(err, errVanished) {
		return nil // a newer one has taken its place
	}
	if errors.Is(err, wal.ErrDamaged) {
		s.unusable[s.bulkNow.Newest] = struct{}{}
		s.opt.Logger.Warn("a snapshot is damaged and is not backed up; the next start of the exchange sets it aside", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	s.gen.snapshots = append(s.gen.snapshots, s.bulkNow)
	slices.SortFunc(s.gen.snapshots, func(a, b pieces) int { return cmp.Compare(a.Newest, b.Newest) })
	return nil
}

// endBulk gives up what is under way, and waits for its end.
func (s *Shipper) endBulk() {
	if s.bulk == nil {
		return
	}
	s.stopBulk()
	if err := <-s.bulk; err != nil {
		s.opt.Logger.Debug("a snapshot was not backed up to its end", "error", err)
	}
	s.bulk = nil
}
