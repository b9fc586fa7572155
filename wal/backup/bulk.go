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

// A separate goroutine ships a snapshot, one at a time. It shares only the rate limiter with
// the shipper, and writes snapshotPieces before it sends its result. The shipper reads
// snapshotPieces only after it has received that result.

func (s *Shipper) startShippingSnapshot(ctx context.Context, info wal.SnapshotInfo) {
	ctx, s.cancelSnapshot = context.WithCancel(ctx)
	done := make(chan error, 1)
	s.snapshotDone, s.snapshotPieces = done, pieceManifest{Newest: info.Newest}
	slow := s.gen.box
	slow.store = s.bulkStore
	c := &pieceWriter{
		ctx: ctx, box: &slow, pace: s.pace,
		folder: snapshotFolder(s.gen.number, info.Newest),
	}
	into := &s.snapshotPieces
	go func() {
		err := shipSnapshotFile(c, info)
		if err == nil {
			*into = c.pieces
		}
		done <- err
	}()
}

func snapshotFolder(generation int, newest uint64) string {
	return fmt.Sprintf("%s/snapshot/%020d", generationFolder(generation), newest)
}

// errSnapshotUnusable reports a snapshot file that is damaged or cannot be read. The shipper does not try
// it again until the next start: a bad sector would otherwise hold up the newer snapshots.
var errSnapshotUnusable = errors.New("the snapshot is damaged, or its file cannot be read")

// shipSnapshotFile verifies a snapshot file while it copies the bytes to the store in pieces,
// and writes the manifest at the end.
func shipSnapshotFile(to *pieceWriter, info wal.SnapshotInfo) error {
	f, err := openFileOrErrFileGone(info.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := wal.CheckSnapshot(io.TeeReader(f, to))
	if to.failed != nil {
		return to.failed
	}
	if err != nil { // of the local file
		return fmt.Errorf("%w: %q: %w", errSnapshotUnusable, info.Path, err)
	}
	to.pieces.Oldest, to.pieces.Newest = found.LastInAllSections, found.Newest
	return to.putLastPieceAndManifest()
}

// recordSnapshotResultIfEnded records the result of the goroutine that ships a snapshot, if it
// has ended. Otherwise it returns nil at once.
func (s *Shipper) recordSnapshotResultIfEnded() error {
	select {
	case err := <-s.snapshotDone: // nil, and so never ready, if no goroutine runs
		return s.recordSnapshotResult(err)
	default:
		return nil
	}
}

func (s *Shipper) waitForAndRecordSnapshotResult(ctx context.Context) error {
	select {
	case err := <-s.snapshotDone:
		return s.recordSnapshotResult(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recordSnapshotResult ends the shipping of a snapshot. After success it adds the snapshot to the
// generation. It returns nil too if a newer snapshot has replaced this one, or if this one is
// unusable; an unusable one is not shipped again. It returns any other error unchanged.
func (s *Shipper) recordSnapshotResult(shippingError error) (errorToReport error) {
	s.cancelSnapshot()
	s.snapshotDone = nil
	if errors.Is(shippingError, errFileGone) {
		return nil // a newer snapshot has replaced it
	}
	if errors.Is(shippingError, errSnapshotUnusable) {
		s.unusable[s.snapshotPieces.Newest] = struct{}{}
		s.opt.Logger.Warn("backup: a snapshot of the exchange was not backed up; the backup continues without it", "error", shippingError)
		return nil
	}
	if shippingError != nil {
		return shippingError
	}
	s.gen.snapshots = append(s.gen.snapshots, s.snapshotPieces)
	slices.SortFunc(s.gen.snapshots, func(a, b pieceManifest) int { return cmp.Compare(a.Newest, b.Newest) })
	return nil
}

// stopShippingSnapshot cancels the goroutine that ships a snapshot, and waits for its end.
func (s *Shipper) stopShippingSnapshot() {
	if s.snapshotDone == nil {
		return
	}
	s.cancelSnapshot()
	if err := <-s.snapshotDone; err != nil {
		s.opt.Logger.Debug("backup: shipping a snapshot was cancelled", "error", err)
	}
	s.snapshotDone = nil
}
