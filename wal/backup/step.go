package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"pingpost/wal"
)

// Step ships what has been logged since the one before, up to the size of one large
// object. caughtUp says that the log's end was reached, that all of it is in the store,
// and that the generation is whole but for a snapshot that may be under way.
//
// The order is what makes every prefix of the puts restorable: read the log, then ship
// what it may refer to, then the log.
func (s *Shipper) Step(ctx context.Context) (caughtUp bool, err error) {
	if s.gen == nil {
		if err := s.Begin(ctx); err != nil {
			s.forget()
			return false, err
		}
	}
	if err := s.mayGoOn(ctx); err != nil {
		return false, err
	}
	began := s.opt.now()
	atEnd, err := s.read()
	if errors.Is(err, wal.ErrGone) {
		s.opt.Logger.Warn("the log went past what the backup has yet to read; it begins anew", "to", s.opt.To.String())
		s.forget()
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if same, err := s.sameLife(); err != nil || !same {
		s.forget() // what was read may be of the life before
		return false, err
	}
	if err := errors.Join(s.shipKeys(ctx), s.shipFiles(ctx)); err != nil {
		return false, err
	}
	if err := s.shipLog(ctx); err != nil {
		return false, err
	}
	s.status.reached(s.tail.due-1, s.known())
	if !atEnd {
		return false, nil
	}
	s.status.caught(began)
	if err := s.shipSnapshots(ctx); err != nil {
		return false, err
	}
	if err := s.makeWhole(ctx); err != nil {
		return false, err
	}
	return true, s.expire(ctx, false)
}

// mayGoOn looks at the fence every so often.
func (s *Shipper) mayGoOn(ctx context.Context) error {
	if s.opt.now().Sub(s.fenceSeen) < s.opt.fences {
		return nil
	}
	if err := s.box.holds(ctx, s.fence); err != nil {
		return err
	}
	s.fenceSeen = s.opt.now()
	return nil
}

// sameLife tells whether the log is still in the life that the generation is of. What
// raises the epoch does so before it cuts the log.
func (s *Shipper) sameLife() (bool, error) {
	epoch, err := s.src.Epoch()
	return epoch == s.epoch, err
}

// read fills the tail.
func (s *Shipper) read() (atEnd bool, err error) {
	for len(s.tail.buf) < s.opt.mergeAt {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("cannot read the log to back it up: %w", err)
		}
		if e.Seq != s.tail.due {
			panic(fmt.Sprintf("BUG: the log gives entry %d where %d is due", e.Seq, s.tail.due))
		}
		s.tail.add(&e)
	}
	return false, nil
}

// shipLog puts what was read: a large object where it makes one, else a small one.
func (s *Shipper) shipLog(ctx context.Context) error {
	records, first := s.tail.pending()
	if len(records) == 0 {
		return nil
	}
	folder := genName(s.gen.number)
	if len(s.tail.buf) < s.opt.mergeAt && s.tail.tails < s.opt.tails {
		if _, err := s.gen.box.put(ctx, extentName(folder, first, s.tail.due-1, s.tail.at), records); err != nil {
			return err
		}
		s.tail.shipped()
		return nil
	}
	if s.tail.tails == 0 { // it was missed; what is new is behind it
		for left := len(s.tail.buf); left > 0; left -= wal.PacedPiece {
			if err := s.pace.WaitN(ctx, min(left, wal.PacedPiece)); err != nil {
				return err
			}
		}
	}
	name, err := s.gen.box.put(ctx, extentName(folder, s.tail.first, s.tail.due-1, s.tail.at), s.tail.buf)
	if err != nil {
		return err
	}
	merged, hadTails := extent{name: name, first: s.tail.first, last: s.tail.due - 1}, s.tail.tails > 0
	s.tail.merged()
	if hadTails {
		return s.removeCovered(ctx, merged)
	}
	return nil
}

// removeCovered removes the objects that a merged one has taken the place of.
func (s *Shipper) removeCovered(ctx context.Context, by extent) error {
	objects, err := s.box.list(ctx, genName(s.gen.number)+"/log")
	if err != nil {
		return err
	}
	var covered []string
	for _, o := range objects {
		e, ok := parseExtent(o)
		if ok && o.Name != by.name && by.first <= e.first && e.last <= by.last {
			covered = append(covered, o.Name)
		}
	}
	return s.box.remove(ctx, covered)
}

// makeWhole writes the generation's manifest, once it can be restored without another.
func (s *Shipper) makeWhole(ctx context.Context) error {
	if s.gen.whole != nil || (s.gen.claim.First > 1 && !s.gen.bridges()) {
		return nil
	}
	m := &manifest{Last: s.tail.due - 1, At: s.opt.now().UTC()}
	if err := s.gen.box.putWhole(ctx, genName(s.gen.number), m); err != nil {
		return err
	}
	s.gen.whole = m
	s.opt.Logger.Info("the backup is whole", "to", s.opt.To.String(), "generation", s.gen.number, "entry", m.Last)
	return nil
}

// bridges tells whether a snapshot makes up for the entries before the first.
func (g *generation) bridges() bool {
	for _, p := range g.snapshots {
		if p.Oldest+1 >= g.claim.First {
			return true
		}
	}
	return false
}

// known is the last entry that there is.
func (s *Shipper) known() uint64 {
	if s.src.Last == nil {
		return s.tail.due - 1
	}
	return max(s.tail.due-1, s.src.Last())
}

// isTemporary tells whether a file is one that is still being written.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".new") || strings.HasSuffix(name, ".tmp")
}
