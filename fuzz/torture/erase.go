//go:build linux

package main

import (
	"time"

	"pingpost/fuzz/witness"
)

// A person is erased while leads arrive, and while the exchange is killed during the erasure.
// The next start must complete the erasure, and no other lead's key may be gone.
var (
	_ = register(fault{name: "person erased", weight: 2, inject: func(t *torture) bool {
		who := t.pickPerson()
		return who != nil && t.Erase(who)
	}})
	_ = register(fault{name: "killed while it erases", weight: 2, inject: func(t *torture) bool {
		who := t.pickPerson()
		if who == nil {
			return false
		}
		erased := make(chan struct{})
		go func() {
			t.Erase(who)
			close(erased)
		}()
		t.sleepUpTo(30 * time.Millisecond)
		t.Kill()
		<-erased
		t.Start()
		t.CheckKeys()
		t.Erase(who)
		return true
	}})
)

// pickPerson returns an erasure request, or nil. Not every known person has a lead.
func (t *torture) pickPerson() (who *witness.ErasureRequest) {
	for range 20 {
		if who = t.PickPerson(t.random); who != nil {
			break
		}
	}
	return who
}
