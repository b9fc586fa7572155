package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/fuzz/mutant"
	"pingpost/fuzz/powerloss/disk"
	"pingpost/fuzz/powerloss/strace"
)

const root = "../.."

// TestMutationsAreOfThisProgram: one whose text has gone would prove nothing.
func TestMutationsAreOfThisProgram(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		if names[m.Name] {
			t.Errorf("two are called %q", m.Name)
		}
		names[m.Name] = true
		if _, err := mutant.Overlay(root, t.TempDir(), append(append(slices.Clone(masked[m.Name]), m), shorter...)...); err != nil {
			t.Error(err)
		}
	}
	for name := range masked {
		if !names[name] {
			t.Errorf("no mutant is called %q", name)
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--points", "many"}, {"--unknown"}, {"stray"}} {
		var said bytes.Buffer
		if code := run(args, io.Discard, &said); code != 1 || !strings.HasPrefix(said.String(), "powerloss: ") {
			t.Errorf("%q: exit %d, %s", args, code, said.String())
		}
	}
}

// TestMannersOfAnEnd: every recording has as many as asked for; the same under the
// same seed; and a program that is broken on purpose never has to start from a loss.
func TestMannersOfAnEnd(t *testing.T) {
	s := &session{flags: &flags{Lives: 7}}
	seen := map[manner]int{}
	for seed := range uint64(20) {
		ends := s.manners(seed)
		if len(ends) != 7 || !slices.Equal(ends, s.manners(seed)) {
			t.Errorf("seed %d: %q", seed, ends)
		}
		for _, end := range ends {
			seen[end]++
		}
	}
	if seen[dark] < 20 || seen[killed] < 20 || seen[orderly] < 20 {
		t.Errorf("%v", seen)
	}
	s.Mutants = true
	for seed := range uint64(20) {
		if slices.Contains(s.manners(seed), dark) {
			t.Errorf("seed %d: %q", seed, s.manners(seed))
		}
	}
}

func TestTableSaysWhatWasTried(t *testing.T) {
	s := &session{flags: &flags{}, recordings: 2, lives: 9, calls: 31, told: 17, ends: map[manner]int{killed: 4, dark: 5}}
	s.sum.add(&disk.Image{Order: disk.Twice, LostNames: 3, LostWrites: 2, LostBytes: 100, Torn: 1})
	s.sum.add(&disk.Image{Order: disk.Ordered, LostNames: 1, LostWrites: 7, LostBytes: 50})
	table := strings.Join(strings.Fields(s.table()), " ")
	for _, want := range []string{
		"recordings 2", "lives, of which 9", "killed 4", "lost its power 5", "calls on its folder and its backup's 31", "told 17",
		"how names were lost 2", "ordered 1", "scattered 0", "twice 1",
		"names lost, at most in one 4, 3", "writes lost, at most in one 9, 7", "bytes in them, at most in one 150, 100", "pages torn 1",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in %s", want, table)
		}
	}
}

// TestPointsAreDrawn where something happens, half of them where it seldom does.
func TestPointsAreDrawn(t *testing.T) {
	r := &recording{lives: []*life{{busy: moments{all: []int{10, 11, 12}, rare: []int{12}}, to: 13}, {to: 30}}}
	count := map[int]int{}
	seeds := map[uint64]bool{}
	for _, p := range r.points(1000, 0, rand.New(rand.NewPCG(1, 1))) {
		count[p.tick]++
		seeds[p.seed] = true
		if (p.tick == 30) != (p.life == 1) {
			t.Errorf("tick %d is none of life %d", p.tick, p.life+1)
		}
	}
	if len(count) != 4 || count[12] < 250 || count[10] < 40 || count[30] < 400 || len(seeds) != 1000 {
		t.Errorf("drawn: %v, %d losses", count, len(seeds))
	}
}

// TestFailureIsKept: with its seed, its folders as the disks had them, and what the
// program needs to be started on them.
func TestFailureIsKept(t *testing.T) {
	dir := t.TempDir()
	r := &recording{folder: dir, lives: []*life{{disks: laid(t, dir, map[string]string{"data/a": "x", "place/b": "y"}), config: "the configuration"}}}
	cause := errors.New("the promise that was broken")
	err := r.keep(point{life: 0, tick: 5, seed: 77}, cause)
	var f *failure
	if !errors.As(err, &f) || !errors.Is(f.err, cause) {
		t.Fatal(err)
	}
	for _, want := range []string{"life 1", "tick 5", "loss 77", "the promise that was broken", f.folder} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	for name, want := range map[string]string{"data/a": "x", "place/b": "y", "exchange.json": "the configuration", "backup.key": "AGE-SECRET-KEY-", "backup.recipient": "age1"} {
		if text, err := os.ReadFile(filepath.Join(f.folder, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("kept as %s: %q, %v", name, text, err)
		}
	}
}

// laid makes a recording's folder, with files in it, and loads its disks.
func laid(t *testing.T, dir string, files map[string]string) (d disks) {
	t.Helper()
	err := errors.Join(os.MkdirAll(dataIn(dir), 0o700), os.MkdirAll(placeIn(dir), 0o700), makeKey(dir))
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if err := errors.Join(err, d.load(dir)); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAFolderThatDoesNotOpenIsAFailure(t *testing.T) {
	w := newWorld(t)
	w.edit(w.segment(), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	dir := t.TempDir()
	w.life.disks = laid(t, dir, nil)
	var err error
	if w.life.disks.data, err = disk.Load(w.dir); err != nil {
		t.Fatal(err)
	}
	r := &recording{folder: dir, lives: []*life{w.life}}
	var sum losses
	err = r.rebuild(t.Context(), point{tick: 5, seed: 1}, filepath.Join(t.TempDir(), "left"), &sum)
	var f *failure
	if !errors.As(err, &f) || !strings.Contains(err.Error(), "it does not open") || sum.points != 1 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// brief is a session that is over soon.
func brief(t *testing.T) *session {
	t.Helper()
	if err := strace.Here(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("long: make test-long records the program")
	}
	s, err := newSession(&flags{Seed: 5, Points: 60, Backups: 12, Lives: 2, Serve: 40, Root: root, Dir: inMemory(t)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestThePowerIsTakenFromTheExchange: all of it, once, and little of each.
func TestThePowerIsTakenFromTheExchange(t *testing.T) {
	s := brief(t)
	if err := s.record(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s.sum.points != 60 || s.sum.backups != 12 || s.sum.served != 2 || s.sum.writes == 0 || s.told < 20 || s.calls < 50 {
		t.Errorf("\n%s", s.table())
	}
}

// TestABrokenPromiseIsFound in the real program. The others of the mutants are for
// `make powerloss-mutants`, since each takes as long.
func TestABrokenPromiseIsFound(t *testing.T) {
	s := brief(t)
	s.Mutants, s.Points = true, 400
	found, err := s.finds(context.Background(), mutants[0])
	if err != nil || found == nil {
		t.Fatalf("not found: %s, %v", mutants[0].Name, err)
	}
	t.Log(found)
}
