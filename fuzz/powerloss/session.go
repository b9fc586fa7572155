package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pingpost/fuzz/mutant"
	"pingpost/fuzz/powerloss/disk"
)

// session is one run of this program.
type session struct {
	*flags
	dir      string // for recordings
	memory   string // for what is rebuilt: nothing has to last there
	progress io.Writer

	recordings, lives, calls, told int
	sum                            losses
	ends                           map[manner]int
}

func newSession(f *flags, progress io.Writer) (*session, error) {
	s := &session{flags: f, progress: progress, ends: map[manner]int{}}
	var err error
	if s.dir, err = os.MkdirTemp(f.Dir, "powerloss"); err != nil {
		return nil, err
	}
	if s.memory, err = os.MkdirTemp("/dev/shm", "powerloss"); err != nil {
		s.memory = filepath.Join(s.dir, "rebuilt") // a disk will do, and is slower
	}
	return s, nil
}

func (s *session) close() error { return errors.Join(os.RemoveAll(s.dir), os.RemoveAll(s.memory)) }

func (s *session) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.progress, format+"\n", args...)
}

// build builds the program, shortened, with a mutation or none.
func (s *session) build(ctx context.Context, broken ...mutant.Mutation) (program string, err error) {
	program = filepath.Join(s.dir, "pingpost")
	return program, mutant.Build(ctx, s.Root, "./cmd/pingpost", program, nil, append(broken, shorter...)...)
}

// record makes recordings and tries each, until the time is over; one at least.
func (s *session) record(ctx context.Context) error {
	program, err := s.build(ctx)
	if err != nil {
		return err
	}
	until := time.Now().Add(time.Duration(s.Minutes * float64(time.Minute)))
	for n := uint64(0); n == 0 || time.Now().Before(until) && ctx.Err() == nil; n++ {
		if err := s.one(ctx, program, s.Seed+n); err != nil {
			return fmt.Errorf("SEED=%d: %w", s.Seed+n, err)
		}
	}
	return nil
}

// one makes a recording, and tries it.
func (s *session) one(ctx context.Context, program string, seed uint64) error {
	folder := filepath.Join(s.dir, fmt.Sprintf("recording-%d", seed))
	r, err := record(ctx, program, folder, s.manners(seed), seed, s.say)
	defer r.close()
	if err != nil {
		return err
	}
	s.recordings++
	s.lives += len(r.lives)
	for _, l := range r.lives {
		s.calls, s.told = s.calls+l.calls, s.told+len(l.acks)
		s.ends[l.end]++
	}
	for i, p := range r.points(s.Points, s.Backups, rand.New(rand.NewPCG(seed, 1))) {
		if ctx.Err() != nil {
			return nil
		}
		if err := r.rebuild(ctx, p, s.memory, &s.sum); err != nil {
			return err
		}
		if i%s.Serve != 0 {
			continue
		}
		if err := r.serveAgain(ctx, p, s.memory, &s.sum); err != nil {
			return err
		}
	}
	return os.RemoveAll(folder)
}

// manners are how the lives of a recording end, shuffled. A program that is broken on
// purpose is not begun with what a loss of power left: it would not start.
func (s *session) manners(seed uint64) (ends []manner) {
	all := []manner{orderly, killed, dark, killed, dark, orderly}
	if s.Mutants {
		all = []manner{orderly, killed}
	}
	chance := rand.New(rand.NewPCG(seed, 2))
	for len(ends) < s.Lives {
		chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		ends = append(ends, all...)
	}
	return ends[:s.Lives]
}

// attempts is how many recordings a mutant may pass before it is said to.
const attempts = 3

// mutants tries a program for each mutation. That a promise is broken shows as a
// failed point, or already while it is recorded.
func (s *session) mutants(ctx context.Context) error {
	var missed []error
	for i := range mutants {
		if !strings.Contains(mutants[i].Name, s.Only) {
			continue
		}
		found, err := s.finds(ctx, mutants[i])
		if err != nil {
			return err
		}
		if found == nil {
			missed = append(missed, fmt.Errorf("not found: %s", mutants[i].Name))
			continue
		}
		s.say("found: %s\n  %s", mutants[i].Name, strings.SplitN(found.Error(), "\n", 2)[0])
	}
	return errors.Join(missed...)
}

// finds is what is found of a mutation; nil: nothing.
func (s *session) finds(ctx context.Context, broken mutant.Mutation) (found *failure, err error) {
	program, err := s.build(ctx, append(slices.Clone(masked[broken.Name]), broken)...)
	if err != nil {
		return nil, err
	}
	for n := range uint64(attempts) {
		err := s.one(ctx, program, s.Seed+n)
		if errors.As(err, &found) {
			return found, os.RemoveAll(filepath.Dir(found.folder))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", broken.Name, err)
		}
	}
	return nil, nil //nolint:nilnil // nothing found is an answer
}

// table says what was tried.
func (s *session) table() string {
	var out strings.Builder
	row := func(what string, value any) { fmt.Fprintf(&out, "%-44s %v\n", what, value) }
	row("recordings", s.recordings)
	row("lives, of which", s.lives)
	for _, end := range []manner{orderly, killed, dark} {
		row("  "+string(end), s.ends[end])
	}
	row("calls on its folder and its backup's", s.calls)
	row("answers, posts and events told", s.told)
	row("folders rebuilt, by how names were lost", s.sum.points)
	for _, order := range []disk.Order{disk.Ordered, disk.Scattered, disk.Twice} {
		row("  "+order.String(), s.sum.orders[order])
	}
	row("names lost, at most in one", fmt.Sprintf("%d, %d", s.sum.names, s.sum.mostNames))
	row("writes lost, at most in one", fmt.Sprintf("%d, %d", s.sum.writes, s.sum.mostWrites))
	row("bytes in them, at most in one", fmt.Sprintf("%d, %d", s.sum.bytes, s.sum.mostBytes))
	row("pages torn", s.sum.torn)
	row("logs whose torn end was cut", s.sum.torns)
	row("backups rebuilt beside them", s.sum.backups)
	row("  on a disk that lost nothing", s.sum.spared)
	row("  with something that was said to be there", s.sum.kept)
	row("folders that the program was started on", s.sum.served)
	row("  restored from the backup alone", s.sum.lost)
	return out.String()
}
