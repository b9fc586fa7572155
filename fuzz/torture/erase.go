//go:build linux

package main

import (
	"time"

	"pingpost/fuzz/witness"
)

// A person who wants to be forgotten, while leads come, and while the exchange dies of it:
// what was begun the next start has made whole, and of nobody else a key is gone.
var (
	_ = register(fault{name: "person erased", weight: 2, strike: func(t *torture) bool {
		who := t.someone()
		return who != nil && t.Erase(who)
	}})
	_ = register(fault{name: "killed while it erases", weight: 2, strike: func(t *torture) bool {
		who := t.someone()
		if who == nil {
			return false
		}
		erased := make(chan struct{})
		go func() {
			t.Erase(who)
			close(erased)
		}()
		t.within(30 * time.Millisecond)
		t.Kill()
		<-erased
		t.Start()
		t.CheckKeys()
		t.Erase(who)
		return true
	}})
)

// someone who can be erased: not everybody the suppliers know of has a lead.
func (t *torture) someone() (who *witness.ErasureRequest) {
	for range 20 {
		if who = t.PickPerson(t.chance); who != nil {
			break
		}
	}
	return who
}
