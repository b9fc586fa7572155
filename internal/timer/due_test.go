package timer_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestReproduceDueTimerCrash shows why this package exists. It ends the process with
// SIGSEGV, or with a failed check of ThreadSanitizer, within a second:
//
//	REPRODUCE_DUE_TIMERS=1 go test -race -run TestReproduceDueTimerCrash ./internal/timer
//
// All goroutines of a bubble share bubble.timers.raceCtx. A select on a due channel
// timer runs it in the selecting goroutine and uses that context without a lock. When
// a new Go release passes this program, this package and its layout rule can go.
func TestReproduceDueTimerCrash(t *testing.T) {
	if os.Getenv("REPRODUCE_DUE_TIMERS") == "" {
		t.Skip("it crashes the process under -race with Go 1.26; set REPRODUCE_DUE_TIMERS to see that")
	}
	synctest.Test(t, func(*testing.T) {
		for range 4 {
			go func() {
				for range 200_000 {
					<-time.After(0)
				}
			}()
		}
	})
}
