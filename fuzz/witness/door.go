package witness

import (
	"context"
	"sync"
	"time"
)

// A Door is where the exchange can be found now.
type Door struct {
	mu      sync.Mutex
	address string
	changed chan struct{}
	since   time.Time     // that it is shut; zero: it is open
	down    time.Duration // that it was shut before
}

// NewDoor is one that is shut.
func NewDoor() *Door { return &Door{changed: make(chan struct{})} }

// Open says where it is.
func (d *Door) Open(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = address
	if !d.since.IsZero() {
		d.down += time.Since(d.since)
		d.since = time.Time{}
	}
	close(d.changed)
	d.changed = make(chan struct{})
}

// Shut says that it is nowhere.
func (d *Door) Shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.address = ""; d.since.IsZero() {
		d.since = time.Now()
	}
}

// lost is how long it was shut in all.
func (d *Door) lost() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.since.IsZero() {
		return d.down
	}
	return d.down + time.Since(d.since)
}

func (d *Door) isOpen() bool { return d.at() != "" }

// at is the address; empty while the door is shut.
func (d *Door) at() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.address
}

// find waits until there is an address; "": the context has ended.
func (d *Door) find(ctx context.Context) string {
	for {
		d.mu.Lock()
		address, changed := d.address, d.changed
		d.mu.Unlock()
		if address != "" {
			return address
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ""
		}
	}
}
