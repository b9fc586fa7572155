package backup

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
	"pingpost/wal/backup/store"
)

// Wake makes Run ship at once. Time is virtual, and the poll interval is a day.
func TestWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, t.TempDir())
		s.many(3)
		opt := small(newDir(t, t.TempDir()), nil)
		opt.pollInterval = 24 * time.Hour
		shipper := shipping(t, s, opt)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- shipper.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		s.many(2)
		last := uint64(len(s.entries))
		for range 10 {
			shipper.Wake()
			synctest.Wait()
		}
		if got := shipper.Status().Shipped; got != last || time.Since(began) > time.Second {
			t.Errorf("entry %d of %d is shipped after %v", got, last, time.Since(began))
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// hanging is a store whose puts end only with their context.
type hanging struct{ store.Store }

func (hanging) Put(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return ctx.Err() }

// Run ends with its context at once and without an error, while a request to the store hangs.
func TestHangingStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, t.TempDir())
		s.many(3)
		shipper := shipping(t, s, small(hanging{newDir(t, t.TempDir())}, nil))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- shipper.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		stop()
		if err := <-ended; err != nil || time.Since(began) > 0 {
			t.Errorf("Run ends after %v: %v", time.Since(began), err)
		}
	})
}

// hangingSnapshots is a store whose puts of snapshots end only with their context, until freed.
type hangingSnapshots struct {
	store.Store
	freed *atomic.Bool
}

func (h hangingSnapshots) Put(ctx context.Context, name string, data []byte) error {
	if strings.Contains(name, "/snapshot/") && !h.freed.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.Store.Put(ctx, name, data)
}

// A stop interrupts the shipping of a snapshot. ShipAll, which follows, ships that snapshot and
// the one that the exchange wrote at the stop.
func TestShipAllAfterInterruptedSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, folder, freed := newSite(t, t.TempDir()), newDir(t, t.TempDir()), new(atomic.Bool)
		s.many(3)
		s.snapshot(3)
		shipper := shipping(t, s, small(hangingSnapshots{folder, freed}, nil))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- shipper.Run(ctx) }()
		synctest.Wait()
		stop()
		must.Succeed(t, <-ended)
		s.many(2)
		s.snapshot(5)
		freed.Store(true)
		must.Succeed(t, shipper.ShipAll(t.Context()))
		done := must.Value(NewRepository(folder, nil).Restore(t.Context(), RestoreOptions{Dir: filepath.Join(t.TempDir(), "data"), Drill: true}))(t)
		if done.Seq != 5 || done.Snapshot != 5 {
			t.Errorf("the backup restores %+v, want entry 5 with its snapshot", done)
		}
	})
}
