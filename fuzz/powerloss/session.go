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
	dir      string // directory of the recordings
	memory   string // directory of rebuilt folders, in memory if possible
	progress io.Writer

	recordings, lifetimes, calls, acks int
	stats                              lossStats
	endings                            map[ending]int
	requests                           map[string]int // answered requests by the beginning of their key
}

func newSession(f *flags, progress io.Writer) (*session, error) {
	s := &session{flags: f, progress: progress, endings: map[ending]int{}, requests: map[string]int{}}
	var err error
	if s.dir, err = os.MkdirTemp(f.Dir, "powerloss"); err != nil {
		return nil, err
	}
	if s.memory, err = os.MkdirTemp("/dev/shm", "powerloss"); err != nil {
		s.memory = filepath.Join(s.dir, "rebuilt") // a disk works too, but slower
	}
	return s, nil
}

func (s *session) close() error { return errors.Join(os.RemoveAll(s.dir), os.RemoveAll(s.memory)) }

func (s *session) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.progress, format+"\n", args...)
}

// buildProgram builds the program with shorter limits and the mutations.
func (s *session) buildProgram(ctx context.Context, broken ...mutant.Mutation) (program string, err error) {
	if s.Program != "" && len(broken) == 0 {
		return s.Program, nil
	}
	program = filepath.Join(s.dir, "pingpost")
	mutations := slices.Concat(broken, shorterLimits)
	if s.Cluster {
		mutations = slices.Concat(mutations, shorterClusterLimits)
	}
	return program, mutant.Build(ctx, s.Root, "./cmd/pingpost", program, nil, mutations...)
}

// recordUntilDone makes and checks recordings until the time is over, at least one.
func (s *session) recordUntilDone(ctx context.Context) error {
	program, err := s.buildProgram(ctx)
	if err != nil {
		return err
	}
	until := time.Now().Add(time.Duration(s.Minutes * float64(time.Minute)))
	for n := uint64(0); n == 0 || time.Now().Before(until) && ctx.Err() == nil; n++ {
		if err := s.recordAndCheckAny(ctx, program, s.Seed+n); err != nil {
			return fmt.Errorf("SEED=%d: %w", s.Seed+n, err)
		}
	}
	return nil
}

// recordAndCheckAny makes one recording, of a single exchange or of a cluster, and checks it.
func (s *session) recordAndCheckAny(ctx context.Context, program string, seed uint64) error {
	if s.Cluster {
		return s.recordAndCheckCluster(ctx, program, seed)
	}
	return s.recordAndCheck(ctx, program, seed)
}

// recordAndCheck makes one recording and checks it.
func (s *session) recordAndCheck(ctx context.Context, program string, seed uint64) error {
	folder := filepath.Join(s.dir, fmt.Sprintf("recording-%d", seed))
	r, err := makeRecording(ctx, program, folder, s.drawEndings(seed), seed, s.logf)
	defer r.close()
	if err != nil {
		return err
	}
	s.count(r)
	for i, p := range r.drawLossPoints(s.Points, s.Backups, rand.New(rand.NewPCG(seed, 1))) {
		if ctx.Err() != nil {
			return nil
		}
		if err := r.rebuildAndCheck(ctx, p, s.memory, &s.stats); err != nil {
			return err
		}
		if i%s.Serve != 0 {
			continue
		}
		if err := r.checkServing(ctx, p, s.memory, &s.stats); err != nil {
			return err
		}
	}
	return os.RemoveAll(folder)
}

// count adds a recording to the counters.
func (s *session) count(r *recording) {
	s.recordings++
	s.lifetimes += len(r.lifetimes)
	for _, l := range r.lifetimes {
		s.calls, s.acks = s.calls+l.calls, s.acks+len(l.acks)
		s.endings[l.ending]++
	}
	for _, t := range r.clients.answers.answers {
		kind, _, _ := strings.Cut(t.Key, "-")
		s.requests[kind]++
	}
}

// drawEndings draws the endings of a recording's lifetimes. A mutant never starts on the result
// of a power loss, because it might not start.
func (s *session) drawEndings(seed uint64) (ends []ending) {
	all := []ending{stoppedInOrder, killed, lostPower, killed, lostPower, stoppedInOrder}
	if s.Mutants {
		all = []ending{stoppedInOrder, killed}
	}
	random := rand.New(rand.NewPCG(seed, 2))
	for len(ends) < s.Lives {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		ends = append(ends, all...)
	}
	return ends[:s.Lives]
}

// mutantAttempts is the number of recordings in which a mutant must be detected.
const mutantAttempts = 3

// detectMutants runs every mutant. A broken promise shows as a failed point, or already during
// the recording.
func (s *session) detectMutants(ctx context.Context) error {
	var missed []error
	for _, broken := range s.allMutants() {
		name := broken[0].Name
		if !strings.Contains(name, s.Only) {
			continue
		}
		found, err := s.detectMutant(ctx, broken...)
		if err != nil {
			return err
		}
		if found == nil {
			missed = append(missed, fmt.Errorf("not detected: %s", name))
			continue
		}
		s.logf("detected: %s\n  %s", name, strings.SplitN(found.Error(), "\n", 2)[0])
	}
	return errors.Join(missed...)
}

// allMutants returns the mutations of each mutant. The first one has its name.
func (s *session) allMutants() (all [][]mutant.Mutation) {
	if s.Cluster {
		return clusterMutants
	}
	for i := range mutants {
		all = append(all, mutants[i:i+1])
	}
	return all
}

// detectMutant returns the first failure of a mutant, or nil.
func (s *session) detectMutant(ctx context.Context, broken ...mutant.Mutation) (found *failure, err error) {
	program, err := s.buildProgram(ctx, broken...)
	if err != nil {
		return nil, err
	}
	for n := range uint64(mutantAttempts) {
		err := s.recordAndCheckAny(ctx, program, s.Seed+n)
		if errors.As(err, &found) {
			return found, os.RemoveAll(filepath.Dir(found.folder))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", broken[0].Name, err)
		}
	}
	return nil, nil //nolint:nilnil // nothing found is an answer
}

// table returns the table of all counters.
func (s *session) table() string {
	var out strings.Builder
	row := func(what string, value any) { fmt.Fprintf(&out, "%-44s %v\n", what, value) }
	row("recordings", s.recordings)
	row("lifetimes, of which", s.lifetimes)
	for _, end := range []ending{stoppedInOrder, killed, lostPower} {
		row("  "+string(end), s.endings[end])
	}
	row("calls on the data directory and the backup", s.calls)
	row("answers, posts and events", s.acks)
	row("folders rebuilt, by the way of losing names", s.stats.points)
	for _, order := range []disk.NameLoss{disk.Ordered, disk.Scattered, disk.Twice} {
		row("  "+order.String(), s.stats.orders[order])
	}
	row("names lost, at most in one", fmt.Sprintf("%d, %d", s.stats.lostNames, s.stats.mostNames))
	row("writes lost, at most in one", fmt.Sprintf("%d, %d", s.stats.lostWrites, s.stats.mostWrites))
	row("bytes in them, at most in one", fmt.Sprintf("%d, %d", s.stats.lostBytes, s.stats.mostBytes))
	row("pages torn", s.stats.tornPages)
	row("logs whose torn end was cut", s.stats.tornLogs)
	if s.Cluster {
		row("Raft logs whose first segment was deleted", s.stats.shortened)
		row("clusters that were started on three folders", s.stats.served)
		return out.String()
	}
	row("backups rebuilt too", s.stats.backups)
	row("  on a disk without losses", s.stats.intactBackups)
	row("  with promises about them", s.stats.promisedBackups)
	row("folders that the program started on", s.stats.served)
	row("  restored from the backup only", s.stats.restored)
	return out.String()
}
