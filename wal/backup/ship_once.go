package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pingpost/wal"
)

// ShipOnce is one step of the shipper. It ships the entries logged since the last step, up to
// the size of one large object. caughtUp reports that the store has all entries. A snapshot
// may still be in progress; a generation that needs it is then not complete yet.
//
// The order makes the backup restorable after every single put: read the log and make it durable, then ship the
// files that its entries may refer to, then ship the entries.
func (s *Shipper) ShipOnce(ctx context.Context) (caughtUp bool, err error) {
	if s.gen == nil {
		if err := s.PrepareShipping(ctx); err != nil {
			s.stopAndForgetPosition()
			return false, err
		}
	}
	began := s.opt.now()
	if began.Sub(s.lastFenceCheck) >= s.opt.fenceInterval {
		if err := s.box.checkStillLastFence(ctx, s.fence); err != nil {
			return false, err
		}
		s.lastFenceCheck = began
	}
	atEnd, err := s.readNewEntries()
	if errors.Is(err, wal.ErrGone) {
		s.opt.Logger.Warn("backup: the log removed entries before they were backed up; a new generation begins with a copy of the whole log", "to", s.opt.To.String())
		s.stopAndForgetPosition()
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if epoch, err := s.src.Epoch(); err != nil || epoch != s.epoch {
		s.stopAndForgetPosition() // a new life raises the epoch before it truncates the log, so the entries may be of the earlier one
		return false, err
	}
	if s.src.Sync != nil && len(s.tail.buf) > s.tail.shippedBytes {
		if err := s.src.Sync(); err != nil {
			return false, err
		}
	}
	if err := errors.Join(s.shipChangedKeyFiles(ctx), s.shipNewConfigDocumentsAndLists(ctx)); err != nil {
		return false, err
	}
	if err := s.shipEntriesOrMergeTail(ctx); err != nil {
		return false, err
	}
	s.status.setLastShipped(s.tail.due - 1)
	if !atEnd {
		return false, nil
	}
	s.status.setCaughtUp(began)
	if err := s.startShippingNextSnapshot(ctx); err != nil {
		return false, err
	}
	if err := s.markCompleteIfRestorable(ctx); err != nil {
		return false, err
	}
	return true, s.removeExpiredObjects(ctx, false)
}

// readNewEntries reads new log entries into the tail until it has the size of a large object.
// atEnd reports that the log has no more entries.
func (s *Shipper) readNewEntries() (atEnd bool, err error) {
	for len(s.tail.buf) < s.opt.mergeAt {
		e, err := s.nextLogEntry()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if e.Seq != s.tail.due {
			panic(fmt.Sprintf("BUG: the log gives entry %d where %d is due", e.Seq, s.tail.due))
		}
		s.tail.appendEntry(&e)
	}
	return false, nil
}

// shipEntriesOrMergeTail stores the entries of the tail that are not in the store. It writes a small
// object. If the tail is large enough, or already has the maximum of small objects, it merges
// the whole tail into one large object, which replaces them.
func (s *Shipper) shipEntriesOrMergeTail(ctx context.Context) error {
	records, first := s.tail.unshippedRecords()
	if len(records) == 0 {
		return nil
	}
	folder := generationFolder(s.gen.number)
	if len(s.tail.buf) < s.opt.mergeAt && s.tail.smallObjects < s.opt.maxSmallObjects {
		if _, err := s.gen.box.put(ctx, logObjectPrefix(folder, first, s.tail.due-1, s.tail.at), records); err != nil {
			return err
		}
		s.tail.markShipped()
		return nil
	}
	if s.tail.smallObjects == 0 { // a backlog: the rate limit applies
		for left := len(s.tail.buf); left > 0; left -= wal.PacedPiece {
			if err := s.pace.WaitN(ctx, min(left, wal.PacedPiece)); err != nil {
				return err
			}
		}
	}
	name, err := s.gen.box.put(ctx, logObjectPrefix(folder, s.tail.first, s.tail.due-1, s.tail.at), s.tail.buf)
	if err != nil {
		return err
	}
	merged, hadTails := logObject{name: name, first: s.tail.first, last: s.tail.due - 1}, s.tail.smallObjects > 0
	s.tail.clearMergedEntries()
	if hadTails {
		return s.removeObjectsMergedInto(ctx, merged)
	}
	return nil
}

// removeObjectsMergedInto removes the small log objects whose entries are all in the object
// `merged`.
func (s *Shipper) removeObjectsMergedInto(ctx context.Context, merged logObject) error {
	objects, err := s.box.listObjects(ctx, generationFolder(s.gen.number)+"/log")
	if err != nil {
		return err
	}
	var covered []string
	for _, o := range objects {
		e, ok := parseLogObjectName(o)
		if ok && o.Name != merged.name && merged.first <= e.first && e.last <= merged.last {
			covered = append(covered, o.Name)
		}
	}
	return s.box.removeObjects(ctx, covered)
}

// markCompleteIfRestorable writes the generation's manifest as soon as the generation can be
// restored: its log begins with entry 1, or a snapshot replaces the entries before.
func (s *Shipper) markCompleteIfRestorable(ctx context.Context) error {
	if s.gen.completion != nil {
		return nil
	}
	replacesBeginning := func(p pieceManifest) bool { return p.Oldest+1 >= s.gen.claim.First }
	if s.gen.claim.First > 1 && !slices.ContainsFunc(s.gen.snapshots, replacesBeginning) {
		return nil
	}
	m := &generationCompleteMarker{Last: s.tail.due - 1, At: s.opt.now().UTC()}
	if err := s.gen.box.putManifest(ctx, generationFolder(s.gen.number), m); err != nil {
		return err
	}
	s.gen.completion = m
	s.opt.Logger.Info("backup: the exchange can now be restored from this generation", "to", s.opt.To.String(), "generation", s.gen.number, "entry", m.Last)
	return nil
}

// isUnfinishedSourceFile reports whether a file name belongs to a file that is still being written,
// and that must not be shipped.
func isUnfinishedSourceFile(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".new") || strings.HasSuffix(name, ".tmp")
}
