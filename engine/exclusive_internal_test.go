package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// Of those who want one thing, each has it alone; and nothing is left behind.
func TestExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exclusive[string]
		inside := 0
		for range 10 {
			go func() {
				keys := []string{"a", "b"}
				for _, key := range keys {
					for wait := x.take(key); wait != nil; wait = x.take(key) {
						<-wait
					}
				}
				if inside++; inside != 1 {
					t.Errorf("%d are inside", inside)
				}
				time.Sleep(time.Second)
				inside--
				x.drop(&keys)
				if len(keys) != 0 {
					t.Errorf("%v are left in the list", keys)
				}
			}()
		}
		time.Sleep(time.Minute)
		x.mu.Lock()
		if len(x.taken) != 0 {
			t.Errorf("%d are taken when nobody is there", len(x.taken))
		}
		x.mu.Unlock()
		if x.take("c") != nil {
			t.Error("what nobody has is not to be had")
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("what nobody has was let go")
				}
			}()
			x.drop(&[]string{"d"})
		}()
	})
}
