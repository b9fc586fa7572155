package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/wal"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

// backedUp starts an exchange that is backed up, and takes snapshots often.
func backedUp(t testing.TB, p place, to string) (*running, error) {
	t.Helper()
	return tryStart(t, p, func(x *Exchange) {
		x.options.Backup = func(tenant string) (backup.Options, error) {
			if tenant != "production" {
				t.Errorf("tenant %q", tenant)
			}
			place, err := store.OpenDir(to)
			return backup.Options{To: place}, err
		}
		x.snapshots.minBytes, x.snapshots.interval = 64<<10, time.Millisecond
	})
}

// sample is what /admin/v1/hash said.
type sample struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// busy sells leads over several connections, so many and until it is enough, and
// asks for the hash meanwhile.
func (r *running) busy(leads int, enough func() bool) (samples []sample) {
	r.t.Helper()
	var sellers sync.WaitGroup
	var over atomic.Bool
	for seller := range 4 {
		sellers.Go(func() {
			for i := 0; i < leads/4 || !over.Load(); i++ {
				a := r.ingest(lead(4*i + seller))
				for a.status == 503 && !over.Load() { // the disk is busy, and the log's queue too old
					time.Sleep(10 * time.Millisecond)
					a = r.ingest(lead(4*i + seller))
				}
				if a.status != 503 {
					a.mustHave(r.t, 201)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { sellers.Wait(); close(done) }()
	for {
		var s sample
		answer := r.operate("GET", "/admin/v1/hash", "")
		if err := json.Unmarshal([]byte(answer.body), &s); err != nil || s.Seq == 0 {
			r.t.Fatalf("%s: %v", answer.body, err)
		}
		samples = append(samples, s)
		over.Store(r.t.Failed() || enough())
		select {
		case <-done:
			return samples
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestRestoreOfAHundredMoments: an orderly stop ships the last entry and snapshot. Under load,
// over snapshots, two lives and their generations, the state's hash is the one that was there
// at that entry or time.
func TestRestoreOfAHundredMoments(t *testing.T) {
	p, to := newPlace(t, recorded), filepath.Join(t.TempDir(), "backups")
	x := must.Value(backedUp(t, p, to))(t)
	from := must.Value(store.OpenDir(to))(t)
	repository := backup.NewRepository(from, nil)
	hasSnapshots := func(generation, want int) func() bool {
		return func() bool {
			all, err := repository.Generations(t.Context())
			return err == nil && len(all) == generation && all[generation-1].Snapshots >= want
		}
	}
	samples := x.busy(600, hasSnapshots(1, 2))
	x.stop()
	next := newPlace(t, recorded)
	last, _, err := StateHash(p.data(), 0)
	must.Succeed(t, err)
	if done, err := repository.Restore(t.Context(), backup.RestoreOptions{Dir: next.data()}); err != nil || done.Seq != last || done.Snapshot != last {
		t.Fatalf("a stop shipped %+v, %v; the last entry, with a snapshot, is %d", done, err, last)
	}
	if got, want := hashOf(t, next), hashOf(t, p); got != want {
		t.Errorf("the restored hash is %s, and was %s", got, want)
	}
	if _, err := backedUp(t, p, to); !errors.Is(err, backup.ErrFenced) {
		t.Fatalf("the copy that was restored from starts: %v", err)
	}
	x = must.Value(backedUp(t, next, to))(t)
	samples = append(samples, x.busy(600, hasSnapshots(2, 3))...)
	x.stop()
	all, err := repository.Generations(t.Context())
	if err != nil || len(all) != 2 || all[1].Snapshots < 3 {
		t.Fatalf("%+v, %v", all, err)
	}

	var entries []wal.Entry
	forEachFact(t, next.data(), func(e wal.Entry, _ event.Event) { entries = append(entries, wal.Entry{Seq: e.Seq, At: e.At}) })
	moments := 100
	if testing.Short() {
		moments = 12
	}
	for i := range moments {
		at, want := backup.Target{}, ""
		switch i % 3 {
		case 0: // as the exchange itself said while it ran
			s := samples[rand.IntN(len(samples))]
			at.Seq, want = s.Seq, s.Hash
		case 1:
			at.Seq = 1 + rand.Uint64N(uint64(len(entries)))
		case 2:
			at.Time = time.Unix(0, entries[rand.IntN(len(entries))].At+rand.Int64N(2e6))
		}
		dir := filepath.Join(t.TempDir(), "data")
		done, err := repository.Restore(t.Context(), backup.RestoreOptions{At: at, Dir: dir, Drill: true})
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if last := entries[done.Seq-1]; at.Seq != 0 && done.Seq != at.Seq || at.Seq == 0 && (last.At > at.Time.UnixNano() ||
			int(done.Seq) < len(entries) && entries[done.Seq].At <= at.Time.UnixNano()) {
			t.Errorf("%s: restored up to entry %d of %d", at, done.Seq, last.At)
		}
		_, hash, err := StateHash(dir, 0)
		must.Succeed(t, err)
		_, replayed, err := StateHash(next.data(), done.Seq)
		must.Succeed(t, err)
		if got := fmt.Sprintf("%016x", hash); hash != replayed || want != "" && got != want {
			t.Errorf("%s: the hash is %s, the whole log replays to %016x, and it was %s", at, got, replayed, want)
		}
	}
	if _, _, err := StateHash(next.data(), uint64(len(entries))+1); err == nil {
		t.Error("a position after the log's end has a hash")
	}
}

// TestBackupThatCannotBe: what cannot be opened is told before anything is served.
func TestBackupThatCannotBe(t *testing.T) {
	p := newPlace(t, recorded)
	_, err := Start(p.config(), Options{Env: env, Logger: logger, Backup: func(string) (backup.Options, error) {
		return backup.Options{}, errors.New("no such place")
	}})
	if err == nil || !strings.Contains(err.Error(), "no such place") {
		t.Errorf("started: %v", err)
	}
	start(t, p).stop()
	if dir, err := DataDir(p.config(), env); err != nil || dir != p.data() {
		t.Errorf("its data is in %q, %v", dir, err)
	}
	if _, err := DataDir(newPlace(t, recorded).config(), env); err == nil {
		t.Error("a data_dir that is not there was taken")
	}
}

// deaf is a store on a machine that is gone: from some moment on no request comes to an
// end, whatever its context.
type deaf struct {
	store.Store
	gone    atomic.Bool
	waiting atomic.Int64
	back    chan struct{}
}

func (d *deaf) wait() {
	if d.gone.Load() {
		d.waiting.Add(1)
		<-d.back
	}
}

func (d *deaf) Put(ctx context.Context, name string, data []byte) error {
	d.wait()
	return d.Store.Put(ctx, name, data)
}

func (d *deaf) List(ctx context.Context, folder string) ([]store.Object, error) {
	d.wait()
	return d.Store.List(ctx, folder)
}

// TestStoreThatHangs: neither a start nor a stop waits for a store for longer than it has
// patience, also where the store does not hear that nobody waits any more.
func TestStoreThatHangs(t *testing.T) {
	for what, hangs := range map[string]func(d *deaf, start func() *Exchange){
		"from the start on": func(d *deaf, start func() *Exchange) { d.gone.Store(true); start() },
		"while it ships": func(d *deaf, start func() *Exchange) {
			start()
			d.gone.Store(true) // for the next lead
		},
		"from the stop on": func(d *deaf, start func() *Exchange) {
			x := start()
			eventually(t, "all is shipped", func() bool { return x.backupRunner.shipper.Status().LagEntries == 0 })
			x.backupRunner.stop()
			<-x.backupRunner.ended
			d.gone.Store(true)
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := &deaf{back: make(chan struct{})}
			var r *running
			hangs(d, func() *Exchange {
				r = startWith(t, newPlace(t, recorded), func(x *Exchange) {
					x.options.Backup = func(string) (backup.Options, error) {
						own, err := store.OpenDir(filepath.Join(t.TempDir(), "backups"))
						d.Store = own
						return backup.Options{To: d}, err
					}
					x.backupRunner.backupTimeouts = backupTimeouts{start: 10 * time.Millisecond, flush: 10 * time.Millisecond}
				})
				return r.Exchange
			})
			r.ingest(lead(1)).mustHave(t, 201)
			if what != "from the stop on" {
				eventually(t, "a request hangs", func() bool { return d.waiting.Load() > 0 })
			}
			r.stop()
			ended := r.backupRunner.ended
			close(d.back)
			<-ended
		})
	}
}
