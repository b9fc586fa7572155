package main

import "testing"

// TestPromisesGrow: what was told has to be there from then on, and what lives before told
// from the beginning.
func TestPromisesGrow(t *testing.T) {
	l := &life{before: promises{entry: 2, revision: 1}, truth: &truth{facts: *history()}}
	l.acks = []ack{
		{tick: 10, request: requestOf(1).String(), lead: leadOf(1).String(), buyer: "alpha", revision: -1},
		{tick: 20, request: requestOf(4).String(), lead: leadOf(4).String(), revision: -1},
		{tick: 30, lead: leadOf(2).String(), host: "blue:1", revision: -1}, // needs less than is needed
		{tick: 40, revision: 5},
		{tick: 50, revision: 4},
	}
	for tick, want := range map[int]promises{
		9: {2, 1, 0}, 10: {3, 1, 0}, 19: {3, 1, 0}, 20: {11, 1, 0}, 30: {11, 1, 0}, 40: {11, 5, 0}, 60: {11, 5, 0},
	} {
		if got := l.promised(tick); got != want {
			t.Errorf("tick %d: %+v, want %+v", tick, got, want)
		}
	}
}

// TestTheBackupKeepsWhatItWasSaidTo: all that was told before a word which two later
// rounds have followed, and what lives before were told.
func TestTheBackupKeepsWhatItWasSaidTo(t *testing.T) {
	l := &life{truth: &truth{facts: *history()}, before: promises{entry: 4}, keptBefore: promises{entry: 2}}
	l.acks = []ack{{tick: 15, request: requestOf(4).String(), lead: leadOf(4).String(), revision: -1}}
	l.rounds = []round{{5, "a"}, {10, "a"}, {20, "a"}, {30, "b"}, {40, "b"}, {50, "c"}, {60, "d"}}
	for tick, want := range map[int]uint64{9: 2, 49: 2, 50: 4, 59: 4, 60: 11} {
		if got := l.kept(tick); got.entry != want {
			t.Errorf("tick %d: entry %d, want %d", tick, got.entry, want)
		}
	}
}
