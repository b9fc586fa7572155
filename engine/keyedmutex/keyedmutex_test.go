package keyedmutex

import (
	"testing"
	"testing/synctest"
	"time"
)

// Of several goroutines that lock the same keys, one at a time proceeds, and no entry remains.
func TestMutexExcludesAndFreesKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x Mutex[string]
		inside := 0
		for range 10 {
			go func() {
				keys := []string{"a", "b"}
				for _, key := range keys {
					for wait := x.TryLock(key); wait != nil; wait = x.TryLock(key) {
						<-wait
					}
				}
				if inside++; inside != 1 {
					t.Errorf("%d goroutines hold the keys", inside)
				}
				time.Sleep(time.Second)
				inside--
				x.UnlockAndEmpty(&keys)
				if len(keys) != 0 {
					t.Errorf("%v are left in the list", keys)
				}
			}()
		}
		time.Sleep(time.Minute)
		x.mu.Lock()
		if len(x.locked) != 0 {
			t.Errorf("%d keys are locked after all goroutines have ended", len(x.locked))
		}
		x.mu.Unlock()
		if x.TryLock("c") != nil {
			t.Error("a free key cannot be locked")
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("unlocking a free key did not panic")
				}
			}()
			x.UnlockAndEmpty(&[]string{"d"})
		}()
	})
}
