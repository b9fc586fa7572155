package timer_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/timer"
)

// TestDueTimersInOneBubble receives from due timers in four goroutines of one bubble,
// which crashes the process with the channels of package time.
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
	for name, receive := range receives {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(*testing.T) {
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() {
						for range 2000 {
							receive()
						}
					})
				}
				all.Wait()
			})
		})
	}
}

func TestTimersWaitForTheirTime(t *testing.T) {
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
