package main

import "testing"

// Promises only grow, and include those of earlier lifetimes.
func TestPromisesAt(t *testing.T) {
	l := &lifetime{promisesBefore: promises{seq: 2, revision: 1}, log: &writtenLog{index: *sampleIndex()}}
	l.acks = []ack{
		{tick: 10, request: requestOf(1).String(), lead: leadOf(1).String(), buyer: "alpha", revision: -1},
		{tick: 20, request: requestOf(4).String(), lead: leadOf(4).String(), revision: -1},
		{tick: 30, lead: leadOf(2).String(), postHost: "blue:1", revision: -1}, // relies on an earlier entry than the first
		{tick: 40, revision: 5},
		{tick: 50, revision: 4},
	}
	for tick, want := range map[int]promises{
		9: {2, 1, 0}, 10: {3, 1, 0}, 19: {3, 1, 0}, 20: {11, 1, 0}, 30: {11, 1, 0}, 40: {11, 5, 0}, 60: {11, 5, 0},
	} {
		if got := l.promisesAt(tick); got != want {
			t.Errorf("tick %d: %+v, want %+v", tick, got, want)
		}
	}
}

// The backup must hold all acks before a report that two later rounds followed, and those of
// earlier lifetimes.
func TestBackupPromisesAt(t *testing.T) {
	l := &lifetime{log: &writtenLog{index: *sampleIndex()}, promisesBefore: promises{seq: 4}, backupPromisesBefore: promises{seq: 2}}
	l.acks = []ack{{tick: 15, request: requestOf(4).String(), lead: leadOf(4).String(), revision: -1}}
	l.backupRounds = []backupRound{{5, "a"}, {10, "a"}, {20, "a"}, {30, "b"}, {40, "b"}, {50, "c"}, {60, "d"}}
	for tick, want := range map[int]uint64{9: 2, 49: 2, 50: 4, 59: 4, 60: 11} {
		if got := l.backupPromisesAt(tick); got.seq != want {
			t.Errorf("tick %d: entry %d, want %d", tick, got.seq, want)
		}
	}
}
