package exchange

import (
	"testing"
	"time"
)

// hurried starts an exchange that takes a snapshot after so many bytes of log, and
// looks all the time.
func hurried(t testing.TB, p place, every uint64) *running {
	t.Helper()
	built, err := read(p.config(), env)
	if err != nil {
		t.Fatal(err)
	}
	x := newExchange(p.config(), Options{Env: env, Logger: logger}, built)
	x.keeper.every, x.keeper.looks = every, time.Millisecond
	if err := x.run(built); err != nil {
		t.Fatal(err)
	}
	r := &running{Exchange: x, place: p, t: t}
	t.Cleanup(r.stop)
	return r
}

// TestSnapshotAfterSoMuchLog counts what a start would have to replay: what this
// process has written, and what it had to replay itself.
func TestSnapshotAfterSoMuchLog(t *testing.T) {
	const every = 40_000
	x := hurried(t, newPlace(t, recorded), every)
	sell := func(x *running, until func() bool) {
		t.Helper()
		for n := 0; !until(); n++ {
			if n > 1000 {
				t.Fatal("no end of it")
			}
			x.sold(lead(n))
		}
	}
	half := func() bool { return x.log.Stats().Bytes > every/2 }
	sell(x, half)
	if x.keeper.last.Load() != 0 {
		t.Fatal("a snapshot too early")
	}
	p := x.copy(t) // a crash
	x = hurried(t, p, every)
	if x.keeper.replayed < every/2 {
		t.Errorf("%d bytes were replayed", x.keeper.replayed)
	}
	sell(x, func() bool { return x.log.Stats().Bytes > every*6/10 })
	eventually(t, "there is a snapshot", func() bool { return x.keeper.last.Load() != 0 })
	last := x.keeper.last.Load()
	time.Sleep(20 * time.Millisecond) // twenty looks, at which there is nothing to do
	if again := x.keeper.last.Load(); again != last {
		t.Errorf("another one at %d after %d", again, last)
	}
	sell(x, func() bool { return x.keeper.last.Load() != last })
}

// TestCrashesInARow: though no run writes much, there is a snapshot in the end.
func TestCrashesInARow(t *testing.T) {
	const every = 12_000
	p := newPlace(t, recorded)
	for range 10 {
		x := hurried(t, p, every)
		if x.keeper.replayed >= every {
			eventually(t, "there is a snapshot", func() bool { return x.keeper.last.Load() != 0 })
			return
		}
		for n := range 10 {
			x.sold(lead(n))
		}
		if written := x.log.Stats().Bytes; written >= every {
			t.Fatalf("%d bytes in one run", written)
		}
		p = x.copy(t)
		x.stop()
	}
	t.Error("there never was a snapshot")
}

// TestLogBehindTheFallbackIsKept: of two snapshots the older one says which part of
// the log may go. One that was written anew under the same name is no second one.
func TestLogBehindTheFallbackIsKept(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	snapshot := func() uint64 {
		t.Helper()
		if err := x.snapshot(); err != nil {
			t.Fatal(err)
		}
		return x.keeper.last.Load()
	}
	needed := func(want uint64) {
		t.Helper()
		if got := x.keeper.needed[0].Load(); got != want {
			t.Errorf("the log is let go up to entry %d, want %d", got, want)
		}
	}
	x.sold(lead(1))
	first := snapshot()
	needed(0)
	x.sold(lead(2))
	second := snapshot()
	needed(first)
	snapshot()
	needed(first)
	x = x.again()
	needed(0) // the older one was not looked at
	x.sold(lead(3))
	snapshot()
	needed(second)
}
