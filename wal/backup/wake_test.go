package backup

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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
