package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"pingpost/wal"
	"pingpost/wal/backup/store"
)

// A shipper goes on where the last one ended, if the newest generation is of this life
// of the log and the log still has what that generation ends with. The end of it is
// read again from the log and held against the names of the objects: a folder that is
// behind what was shipped, or has other entries in its place, is an old copy, a disk
// that lost what it had acknowledged, or one of two copies that both went on. It must
// not ship, for the other's entries are the ones that were acknowledged last.

var (
	// ErrDiverged is returned to a log that lacks what was backed up from it.
	ErrDiverged = errors.New("the log is not the one that was backed up there: it lacks entries that were, or has others in their place. " +
		"The folder is an older copy, or its disk has lost data. Restore the backup; or, if this folder is the one to go on, back it up to another place")
	// ErrForeign is returned where another exchange's backup is.
	ErrForeign = errors.New("the backup there is of another exchange; give each its own place")
	// ErrMixed is returned where some would be encrypted and some not.
	ErrMixed = errors.New("a backup is encrypted from its beginning or never; give another place")
)

// resume returns the generation to go on with, nil where a new one has to begin. The
// tail then holds the end of what was shipped, so that it will be merged with what comes.
func (s *Shipper) resume(all []*generation) (*generation, error) {
	if len(all) == 0 {
		return nil, nil
	}
	g := all[len(all)-1]
	if g.claim.Sealed != s.opt.Key.seals() {
		return nil, fmt.Errorf("cannot back up to %s: %w", s.opt.To, ErrMixed)
	}
	if g.claim.Epoch != s.epoch {
		return nil, nil
	}
	if len(g.runs) == 0 && g.claim.sum == "" {
		return nil, nil
	}
	if len(g.runs) == 0 {
		s.tail = tail{first: g.claim.First, due: g.claim.First}
		return s.orNew(g, s.openLog())
	}
	r := g.runs[len(g.runs)-1]
	if _, ok := g.basis(r, r.last()); len(g.runs) > 1 || (r.first() != g.claim.First && !ok) {
		s.opt.Logger.Warn("objects are missing from the backup; it begins anew beside what is left", "to", s.opt.To.String(), "generation", g.number)
		return nil, s.behind(r)
	}
	err := s.follows(g, r)
	if err == nil && g.claim.sum == "" {
		s.opt.Logger.Warn("an earlier program wrote the backup, without sums of its claims; it begins anew beside what is there", "to", s.opt.To.String(), "generation", g.number)
		return nil, nil
	}
	return s.orNew(g, err)
}

// orNew turns a log that no longer has the place into a new generation.
func (s *Shipper) orNew(g *generation, err error) (*generation, error) {
	if errors.Is(err, wal.ErrGone) {
		s.opt.Logger.Warn("the log no longer has the entries after those that were backed up; the backup begins anew", "to", s.opt.To.String())
		s.tail = tail{}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// follows reads the log from the beginning of the last objects of a run on.
func (s *Shipper) follows(g *generation, r run) error {
	from, size := len(r)-1, r[len(r)-1].size
	for from > 0 && size+r[from-1].size <= int64(s.opt.mergeAt) {
		from--
		size += r[from].size
	}
	s.tail = tail{first: r[from].first, due: r[from].first}
	for _, e := range r[from:] {
		begin := len(s.tail.buf)
		if e.first != s.tail.due { // overlaps the one before it, which was read
			continue
		}
		for s.tail.due <= e.last {
			entry, err := s.next()
			if errors.Is(err, io.EOF) {
				return s.behind(r)
			}
			if err != nil {
				return err
			}
			s.tail.add(&entry)
		}
		place := extentName(genName(g.number), e.first, e.last, e.at)
		if sum(g.box.names, place, s.tail.buf[begin:]) != e.sum {
			return fmt.Errorf("cannot back up %q to %s: entries %d to %d are others: %w", s.src.Dir, s.opt.To, e.first, e.last, ErrDiverged)
		}
	}
	s.tail.shipped()
	s.tail.tails = len(r) - from
	if len(s.tail.buf) >= s.opt.mergeAt {
		s.tail.merged()
	}
	s.status.reached(r.last(), s.tail.due-1)
	return nil
}

// behind is the error of a log that ends before a run does, nil where it does not.
func (s *Shipper) behind(r run) error {
	reader, err := s.src.NewReader(r.last())
	if errors.Is(err, wal.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer reader.Close()
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("cannot back up %q to %s: its log ends before entry %d, which is backed up: %w", s.src.Dir, s.opt.To, r.last(), ErrDiverged)
}

// claim begins a generation, with the oldest entry that the log has.
func (s *Shipper) claim(ctx context.Context) (*generation, error) {
	for {
		segments, err := wal.Segments(s.src.Dir)
		if err != nil || len(segments) == 0 {
			return nil, errors.Join(fmt.Errorf("cannot back up %q, which has no log", s.src.Dir), err)
		}
		s.tail = tail{first: segments[0].First, due: segments[0].First}
		if s.reader != nil {
			s.reader.Close()
			s.reader = nil
		}
		if err := s.openLog(); errors.Is(err, wal.ErrGone) {
			continue // its history has gone on
		} else if err != nil {
			return nil, err
		}
		objects, err := s.box.list(ctx, genFolder)
		if err != nil {
			return nil, err
		}
		number := 1
		for _, o := range slices.Backward(objects) {
			if _, err := fmt.Sscanf(o.Name, genFolder+"/%010d/", &number); err == nil {
				number++
				break
			}
		}
		g := &generation{number: number, files: map[string]string{}, claim: claim{Epoch: s.epoch, First: s.tail.first, Begun: s.opt.now().UTC(), Sealed: s.opt.Key.seals()}}
		g.claim.sum, err = s.box.createOpen(ctx, genName(number)+"/claim", &g.claim)
		if errors.Is(err, store.ErrExists) {
			return nil, fmt.Errorf("cannot back up to %s: %w", s.opt.To, ErrTakenOver)
		}
		if err != nil {
			return nil, err
		}
		g.box = s.box.under(&g.claim)
		s.opt.Logger.Info("a backup begins with all that the log has", "to", s.opt.To.String(), "generation", number, "from", s.tail.first)
		return g, nil
	}
}
