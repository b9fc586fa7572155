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

// startWithBackup starts an exchange with a backup and frequent snapshots. A stop has the time to ship
// the rest also on a busy disk.
func startWithBackup(t testing.TB, p testDir, to string) (*testExchange, error) {
	t.Helper()
	return tryStart(t, p, func(x *Exchange) {
		x.options.Backup = func(tenant string) (backup.Options, error) {
			if tenant != "production" {
				t.Errorf("tenant %q", tenant)
			}
			dir, err := store.OpenDir(to)
			return backup.Options{To: dir}, err
		}
		x.snapshots.minBytes, x.snapshots.interval = 64<<10, time.Millisecond
		x.backupRunner.backupTimeouts = backupTimeouts{start: time.Minute, flush: time.Minute}
	})
}

// hashSample is an answer of /admin/v1/hash.
type hashSample struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// sellUntil sells at least so many leads over several connections until enough returns true, and
// samples the state hash meanwhile.
func (r *testExchange) sellUntil(leads int, enough func() bool) (samples []hashSample) {
	r.t.Helper()
	var sellers sync.WaitGroup
	var over atomic.Bool
	for seller := range 4 {
		sellers.Go(func() {
			for i := 0; i < leads/4 || !over.Load(); i++ {
				a := r.ingest(leadBody(4*i + seller))
				for a.status == 503 && !over.Load() { // the disk is busy, so the log's queue is too old
					time.Sleep(10 * time.Millisecond)
					a = r.ingest(leadBody(4*i + seller))
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
		var s hashSample
		answer := r.adminRequest("GET", "/admin/v1/hash", "")
		if err := json.Unmarshal([]byte(answer.body), &s); err != nil || s.Seq == 0 {
			r.t.Fatalf("hash answer %s: %v", answer.body, err)
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

// TestRestoreToAnyEntryOrTime: a stop ships the last entry and a snapshot. A restore to any entry
// or time, over snapshots, two runs and their generations, has the state hash of that moment.
func TestRestoreToAnyEntryOrTime(t *testing.T) {
	t.Parallel()
	p, to := newTestDir(t, baseConfig), filepath.Join(t.TempDir(), "backups")
	x := must.Value(startWithBackup(t, p, to))(t)
	from := must.Value(store.OpenDir(to))(t)
	repository := backup.NewRepository(from, nil)
	hasSnapshots := func(generation, want int) func() bool {
		return func() bool {
			all, err := repository.Generations(t.Context())
			return err == nil && len(all) == generation && all[generation-1].Snapshots >= want
		}
	}
	leads, moments := 600, 100
	if testing.Short() {
		leads, moments = 200, 6
	}
	samples := x.sellUntil(leads, hasSnapshots(1, 2))
	x.stop()
	next := newTestDir(t, baseConfig)
	last, _, err := StateHash(p.dataDir(), 0)
	must.Succeed(t, err)
	if done, err := repository.Restore(t.Context(), backup.RestoreOptions{Dir: next.dataDir()}); err != nil || done.Seq != last || done.Snapshot != last {
		t.Fatalf("a stop shipped %+v, %v, want entry %d with a snapshot", done, err, last)
	}
	if got, want := replayedStateHash(t, next), replayedStateHash(t, p); got != want {
		t.Errorf("restored state hash is %s, want %s", got, want)
	}
	if _, err := startWithBackup(t, p, to); !errors.Is(err, backup.ErrFenced) {
		t.Fatalf("start of the exchange that was replaced by a restore: %v, want ErrFenced", err)
	}
	x = must.Value(startWithBackup(t, next, to))(t)
	samples = append(samples, x.sellUntil(leads, hasSnapshots(2, 3))...)
	x.stop()
	all, err := repository.Generations(t.Context())
	if err != nil || len(all) != 2 || all[1].Snapshots < 3 {
		t.Fatalf("unexpected backup generations: %+v, %v", all, err)
	}

	var entries []wal.Entry
	forEachLogEntry(t, next.dataDir(), func(e wal.Entry, _ event.Event) { entries = append(entries, wal.Entry{Seq: e.Seq, At: e.At}) })
	for i := range moments {
		at, want := backup.RestorePoint{}, ""
		switch i % 3 {
		case 0: // a sampled hash
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
			t.Fatalf("restore to %s: %v", at, err)
		}
		if last := entries[done.Seq-1]; at.Seq != 0 && done.Seq != at.Seq || at.Seq == 0 && (last.At > at.Time.UnixNano() ||
			int(done.Seq) < len(entries) && entries[done.Seq].At <= at.Time.UnixNano()) {
			t.Errorf("%s: restored up to entry %d at %d", at, done.Seq, last.At)
		}
		_, hash, err := StateHash(dir, 0)
		must.Succeed(t, err)
		_, replayed, err := StateHash(next.dataDir(), done.Seq)
		must.Succeed(t, err)
		if got := fmt.Sprintf("%016x", hash); hash != replayed || want != "" && got != want {
			t.Errorf("%s: restored hash %s, replayed hash %016x, sampled hash %s", at, got, replayed, want)
		}
	}
	if _, _, err := StateHash(next.dataDir(), uint64(len(entries))+1); err == nil {
		t.Error("a position after the log's end has a state hash")
	}
}

// TestStartFailsWithoutBackupStore: the error comes before any address is served.
func TestStartFailsWithoutBackupStore(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, baseConfig)
	_, err := Start(p.configPath(), Options{Env: env, Logger: p.logger(), Backup: func(string) (backup.Options, error) {
		return backup.Options{}, errors.New("no such place")
	}})
	if err == nil || !strings.Contains(err.Error(), "no such place") {
		t.Errorf("Start: got %v, want the store's error", err)
	}
	start(t, p).stop()
	if dir, err := DataDir(p.configPath(), env); err != nil || dir != p.dataDir() {
		t.Errorf("data directory is %q, %v", dir, err)
	}
	if _, err := DataDir(newTestDir(t, baseConfig).configPath(), env); err == nil {
		t.Error("DataDir accepted a missing directory")
	}
}

// hangingStore is a store whose requests hang from some moment on and ignore their contexts.
type hangingStore struct {
	store.Store
	hangs   atomic.Bool
	waiting atomic.Int64
	release chan struct{}
}

func (d *hangingStore) wait() {
	if d.hangs.Load() {
		d.waiting.Add(1)
		<-d.release
	}
}

func (d *hangingStore) Put(ctx context.Context, name string, data []byte) error {
	d.wait()
	return d.Store.Put(ctx, name, data)
}

func (d *hangingStore) List(ctx context.Context, folder string) ([]store.Object, error) {
	d.wait()
	return d.Store.List(ctx, folder)
}

// TestHangingBackupStoreDelaysNoStartOrStop: a start and a stop wait at most for their timeouts.
func TestHangingBackupStoreDelaysNoStartOrStop(t *testing.T) {
	t.Parallel()
	for name, hangStore := range map[string]func(d *hangingStore, start func() *Exchange){
		"from the start on": func(d *hangingStore, start func() *Exchange) { d.hangs.Store(true); start() },
		"while it ships": func(d *hangingStore, start func() *Exchange) {
			start()
			d.hangs.Store(true) // for the next lead
		},
		"from the stop on": func(d *hangingStore, start func() *Exchange) {
			x := start()
			eventually(t, "all entries are shipped", func() bool { return x.backupRunner.shipper.Status().LagEntries == 0 })
			x.backupRunner.stop()
			<-x.backupRunner.ended
			d.hangs.Store(true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &hangingStore{release: make(chan struct{})}
			var r *testExchange
			hangStore(d, func() *Exchange {
				r = startWith(t, newTestDir(t, baseConfig), func(x *Exchange) {
					x.options.Backup = func(string) (backup.Options, error) {
						opened, err := store.OpenDir(filepath.Join(t.TempDir(), "backups"))
						d.Store = opened
						return backup.Options{To: d}, err
					}
					x.backupRunner.backupTimeouts = backupTimeouts{start: 10 * time.Millisecond, flush: 10 * time.Millisecond}
				})
				return r.Exchange
			})
			r.ingest(leadBody(1)).mustHave(t, 201)
			if name != "from the stop on" {
				eventually(t, "a request hangs", func() bool { return d.waiting.Load() > 0 })
			}
			r.stop()
			ended := r.backupRunner.ended
			close(d.release)
			<-ended
		})
	}
}
