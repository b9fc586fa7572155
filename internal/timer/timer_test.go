package timer_test

import (
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/timer"
)

// TestDueTimersInOneBubble receives from due timers in four goroutines of one bubble. With the
// channels of package time that ends the process with SIGSEGV, or with a failed check of
// ThreadSanitizer, within a second:
//
//	REPRODUCE_DUE_TIMERS=1 go test -race -run TestDueTimersInOneBubble ./internal/timer
//
// When a new Go release passes this command, this package and its layout rule can go.
func TestDueTimersInOneBubble(t *testing.T) {
	receives := map[string]func(){
		"After(0)": func() { <-timer.After(0) },
		"New(0)":   func() { fired, _ := timer.New(0); <-fired },
		"New, received late": func() {
			fired, _ := timer.New(time.Millisecond)
			time.Sleep(time.Second)
			select {
			case <-fired:
			default:
				panic("the timer has not fired after a second")
			}
		},
	}
	times := 2000
	if os.Getenv("REPRODUCE_DUE_TIMERS") != "" {
		receives, times = map[string]func(){"time.After(0)": func() { <-time.After(0) }}, 200_000
	}
	for name, receive := range receives {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(*testing.T) {
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() {
						for range times {
							receive()
						}
					})
				}
				all.Wait()
			})
		})
	}
}

func TestTimersFireOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		fired, stop := timer.New(time.Minute)
		<-fired
		if took := time.Since(began); took != time.Minute {
			t.Errorf("New(1m) fired after %v", took)
		}
		if stop() {
			t.Error("stop reports true after the timer fired")
		}
		<-timer.After(time.Hour)
		if took := time.Since(began); took != time.Hour+time.Minute {
			t.Errorf("After(1h) fired after %v", took-time.Minute)
		}
	})
}

func TestStoppedTimerNeverFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired, stop := timer.New(time.Minute)
		if !stop() {
			t.Error("stop reports false before the timer fired")
		}
		time.Sleep(time.Hour)
		select {
		case <-fired:
			t.Error("a stopped timer fired")
		default:
		}
	})
}
