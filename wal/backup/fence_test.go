package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pingpost/wal"

	"pingpost/internal/must"
)

// A restore begins a new life. Running and newly started copies of the earlier life can no
// longer back up.
func TestTwoCopiesDoNotBothGoOn(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(20)
	to := newDir(t, t.TempDir())
	old := ship(t, s, small(to, nil))
	dir, done := restored(t, to, nil, s, RestoreOptions{At: RestorePoint{Seq: 15}, Dir: filepath.Join(t.TempDir(), "data")})
	if done.Epoch != 2 {
		t.Fatalf("restored %+v", done)
	}
	s.many(5)
	if err := old.ShipAll(t.Context()); !errors.Is(err, ErrFenced) || !IsPermanent(err) {
		t.Errorf("the copy that runs: %v", err)
	}
	if err := old.Run(t.Context()); !errors.Is(err, ErrFenced) {
		t.Errorf("the copy that runs on: %v", err)
	}
	old.Close()
	again := shipping(t, s, small(to, nil))
	if err := again.PrepareShipping(t.Context()); !errors.Is(err, ErrFenced) {
		t.Errorf("the copy that starts: %v", err)
	}

	next := s.copyAt(dir)
	next.put("another sixteenth")
	ship(t, next, small(to, nil)).Close()
	_, done = restored(t, to, nil, next, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
	if done.Seq != 16 || done.Generation != 2 || done.Epoch != 3 {
		t.Errorf("restored %+v", done)
	}
	_, done = restored(t, to, nil, s, RestoreOptions{At: RestorePoint{Seq: 20}, Dir: filepath.Join(t.TempDir(), "data")})
	if done.Generation != 1 || done.Epoch != 4 {
		t.Errorf("from the first life: %+v", done)
	}
}

// A drill does not stop the original, and its copy cannot back up in the original's place.
func TestDrillLeavesTheStoreAlone(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(20)
	to := newDir(t, t.TempDir())
	shipper := ship(t, s, small(to, nil))
	dir, done := restored(t, to, nil, s, RestoreOptions{At: RestorePoint{Seq: 15}, Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
	s.many(5)
	if err := shipper.ShipAll(t.Context()); err != nil || done.Epoch != 1 {
		t.Errorf("the original: %v, the copy is in life %d", err, done.Epoch)
	}
	copied := s.copyAt(dir)
	for range 2 { // behind, and then beside
		drill := shipping(t, copied, small(to, nil))
		if err := drill.ShipAll(t.Context()); !errors.Is(err, ErrDiverged) {
			t.Errorf("the copy: %v", err)
		}
		drill.Close()
		copied.many(20)
	}
	if err := shipper.ShipAll(t.Context()); err != nil {
		t.Errorf("the original, afterwards: %v", err)
	}
}

// Of two copies of one life with different entries, the one that the backup does not
// contain is rejected.
func TestCopyOfTheFolder(t *testing.T) {
	for what, diverge := range map[string]func(s, other *site){
		"an older copy":                     func(s, _ *site) { s.many(3) },
		"another entry in the last's place": func(s, other *site) { s.many(3); other.many(3) },
		"others, and more of them":          func(s, other *site) { s.many(3); other.many(40) },
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, t.TempDir())
			s.many(20)
			to := newDir(t, t.TempDir())
			ship(t, s, small(to, nil)).Close()
			s.close()
			dir := filepath.Join(t.TempDir(), "copy")
			s.must(os.CopyFS(dir, os.DirFS(s.dir)))
			s.open()
			other := s.copyAt(dir)
			diverge(s, other)
			ship(t, s, small(to, nil)).Close()
			copied := shipping(t, other, small(to, nil))
			if err := copied.ShipAll(t.Context()); !errors.Is(err, ErrDiverged) {
				t.Errorf("the copy: %v", err)
			}
			ship(t, s, small(to, nil)).Close()
			check(t, NewRepository(to, nil), 1)
		})
	}
}

// Of two copies with the same entries, the last one to begin continues.
func TestTakenOver(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(20)
	s.close()
	dir := filepath.Join(t.TempDir(), "copy")
	s.must(os.CopyFS(dir, os.DirFS(s.dir)))
	s.open()
	other := s.copyAt(dir)
	to := newDir(t, t.TempDir())
	first, second := ship(t, s, small(to, nil)), ship(t, other, small(to, nil))
	if err := first.ShipAll(t.Context()); !errors.Is(err, ErrTakenOver) || !IsPermanent(err) {
		t.Errorf("the first: %v", err)
	}
	if err := second.ShipAll(t.Context()); err != nil {
		t.Errorf("the second: %v", err)
	}
}

// Another exchange cannot back up to the same place, and encryption cannot begin later.
func TestAnotherExchange(t *testing.T) {
	s, other := newSite(t, t.TempDir()), newSite(t, t.TempDir())
	s.many(3)
	other.many(3)
	to := newDir(t, t.TempDir())
	ship(t, s, small(to, nil)).Close()
	if err := shipping(t, other, small(to, nil)).ShipAll(t.Context()); !errors.Is(err, ErrForeign) || !IsPermanent(err) {
		t.Errorf("another exchange: %v", err)
	}
	_, recipient := identity(t)
	if err := shipping(t, s, small(to, recipient)).ShipAll(t.Context()); !errors.Is(err, ErrMixed) || !IsPermanent(err) {
		t.Errorf("encrypted beside unencrypted: %v", err)
	}
	check(t, NewRepository(to, nil), 1)
}

// An accepted loss raises the life without the store. If a restore has begun the same
// life, the entries differ and the shipper stops.
func TestAcceptedLossAndRestore(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(20)
	to := newDir(t, t.TempDir())
	ship(t, s, small(to, nil)).Close()
	dir, _ := restored(t, to, nil, s, RestoreOptions{At: RestorePoint{Seq: 10}, Dir: filepath.Join(t.TempDir(), "data")})
	next := s.copyAt(dir)
	next.many(5)
	ship(t, next, small(to, nil)).Close()
	next.close()
	s.close()
	s.must(wal.WriteEpoch(s.dir, 2))
	s.open()
	if err := shipping(t, s, small(to, nil)).ShipAll(t.Context()); !errors.Is(err, ErrDiverged) {
		t.Errorf("a life that another has: %v", err)
	}
}

func TestFencesAreRaisedOneByOne(t *testing.T) {
	b := &encryptedStore{store: newDir(t, t.TempDir()), key: new(Key)}
	ctx := context.Background()
	errs := make(chan error, 8)
	for i := range 8 {
		go func() {
			_, err := b.createNextFence(ctx, uint32(1+i%2), nil, "test", time.Now())
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil && !errors.Is(err, ErrFenced) {
			t.Error(err)
		}
	}
	last := must.Value(b.createNextFence(ctx, 2, nil, "test", time.Now()))(t)
	if err := b.checkStillLastFence(ctx, last); err != nil {
		t.Errorf("the last one: %v", err)
	}
	if all, err := b.readAllFences(ctx); err != nil || len(all) == 0 || all[len(all)-1].Epoch != 2 || all[len(all)-1].Run != last.Run {
		t.Errorf("there are %v, %v", all, err)
	}
	if _, err := b.createNextFence(ctx, 1, nil, "test", time.Now()); !errors.Is(err, ErrFenced) {
		t.Errorf("a life before: %v", err)
	}
}
