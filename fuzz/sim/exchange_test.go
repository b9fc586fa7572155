package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/sealtest"
	"pingpost/engine/state"
	"pingpost/internal/timer"
)

// exchange is the real engine, one process after the other over one disk, among
// simulated endpoints.
type exchange struct {
	tb    testing.TB
	disk  *disk
	world *world
	terms *terms
	keys  *sealtest.Sealer

	engine *engine.Engine
	state  *state.State
	log    *log
	dead   chan struct{} // closed when the process dies
	dying  *sync.Once
	mailed chan struct{} // closed when nobody tells of events any more
	quiet  chan struct{} // closed to bring that about
	graves sync.WaitGroup

	drawn    uint64
	requests map[market.RequestID]string // by label
	ids      map[string]market.LeadID
	labels   map[market.LeadID]string
	takers   map[string][]string // of a lead, one after the other
	slots    map[string]uint64   // of its key, by label
	scanned  int
	decoder  event.Decoder
	pings    map[string]engine.PingAnswer
	drawing  sync.Mutex
}

// clock is that of package time: virtual in a bubble.
type clock struct{}

func (clock) Now() int64 { return time.Now().UnixNano() }

func (clock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	return timer.New(d)
}

func newExchange(tb testing.TB) *exchange {
	return &exchange{
		keys: sealtest.New(),
		tb:   tb, disk: &disk{}, world: newWorld(), terms: newTerms(),
		requests: map[market.RequestID]string{}, ids: map[string]market.LeadID{}, labels: map[market.LeadID]string{},
		pings: map[string]engine.PingAnswer{}, takers: map[string][]string{}, slots: map[string]uint64{},
	}
}

// rise starts a process on what the disk has; from the newest snapshot, if there
// is one and plain does not say otherwise. Both ways must come to the same.
func (x *exchange) rise(plain bool) error {
	whole, err := x.replayed(false)
	if err != nil {
		return err
	}
	x.state = whole
	if x.disk.snapshot != nil && !plain {
		if x.state, err = x.replayed(true); err != nil {
			return err
		}
		_, a := whole.Hash()
		if _, b := x.state.Hash(); a != b {
			return fmt.Errorf("the log alone replays to %x, with the snapshot to %x", a, b)
		}
	}
	dead, once := make(chan struct{}), new(sync.Once)
	x.dead, x.dying = dead, once
	x.log = openLog(x.disk, func() { once.Do(func() { close(dead) }) })
	x.engine = engine.New(x.options(dead))
	if err := x.configure(); err != nil {
		return err
	}
	if err := x.engine.Recover(); err != nil {
		return err
	}
	x.speak()
	return nil
}

// options are the engine's ports.
func (x *exchange) options(dead <-chan struct{}) engine.Options {
	return engine.Options{
		State: x.state, Log: x.log, History: x.log, Buyers: ends{x.world, dead}, Clock: clock{}, Entropy: x.entropy, Secret: secret, Sealer: x.keys.StartAbove(x.state.HighestSlot()),
	}
}

func (x *exchange) configure() error {
	x.log.arm(-1, false)
	return x.engine.Configure(x.terms.configuration(x.tb))
}

// replayed is the state that the disk makes.
func (x *exchange) replayed(snapshot bool) (*state.State, error) {
	s, from := state.New(), uint64(0)
	if snapshot {
		if _, err := s.Load(bytes.NewReader(x.disk.snapshot)); err != nil {
			return nil, err
		}
		from = x.disk.oldest
	}
	replay := s.NewReplay()
	for i, e := range x.disk.all()[from:] {
		more, err := replay.Add(from+uint64(i)+1, e.at, e.data)
		if err != nil {
			return nil, err
		}
		if !more {
			replay.Flush()
		}
	}
	replay.Flush()
	return s, nil
}

// entropy gives ever new bytes, the same in each run.
func (x *exchange) entropy(p []byte) {
	x.drawing.Lock()
	defer x.drawing.Unlock()
	for i := range p {
		if i%8 == 0 {
			x.drawn++
		}
		p[i] = byte((x.drawn * 0x9e3779b97f4a7c15 * 0xd6e8feb86659fd93) >> (8 * (i % 8)))
	}
}

// speak has somebody tell suppliers of events, hush nobody.
func (x *exchange) speak() {
	x.quiet, x.mailed = make(chan struct{}), make(chan struct{})
	go func(e *engine.Engine, quiet, mailed chan struct{}) {
		defer close(mailed)
		x.world.mail(e, quiet)
	}(x.engine, x.quiet, x.mailed)
}

func (x *exchange) hush() {
	if x.quiet != nil {
		close(x.quiet)
		<-x.mailed
		x.quiet = nil
	}
}

// die ends the process at this instant; what is left of it reaches nothing.
func (x *exchange) die() {
	x.log.kill()
	x.dying.Do(func() { close(x.dead) })
	e, l := x.engine, x.log
	x.graves.Go(func() { e.Close(); l.close() })
	x.hush()
	x.graves.Wait()
}

// stop ends the process in order.
func (x *exchange) stop() {
	x.hush()
	x.engine.Close()
	x.log.close()
	x.dying.Do(func() { close(x.dead) })
}

// snapshot is taken of the live state.
func (x *exchange) snapshot() error {
	var buffer bytes.Buffer
	oldest, _, err := x.state.WriteSnapshot(&buffer)
	if err == nil {
		x.disk.snapshot, x.disk.oldest = buffer.Bytes(), oldest
	}
	return err
}

// request draws a request's identifier for a label.
func (x *exchange) request(label string) (id market.RequestID) {
	x.drawing.Lock()
	defer x.drawing.Unlock()
	x.drawn++
	binary.BigEndian.PutUint64(id[8:], x.drawn)
	id[0] = 1
	if label != "" {
		x.requests[id] = label
	}
	return id
}

// scan learns from the log which lead has which label, and who was to get it.
func (x *exchange) scan() error {
	all := x.disk.all()
	for ; x.scanned < len(all); x.scanned++ {
		fact, err := x.decoder.Decode(all[x.scanned].data)
		if err != nil {
			return err
		}
		switch fact := fact.(type) {
		case *event.LeadDecided:
			label := x.requests[fact.Request]
			x.ids[label], x.labels[fact.Lead], x.slots[label] = fact.Lead, label, fact.Slot
			x.goes(label, fact.Sale.Buyer)
		case *event.PostSettled:
			x.goes(x.labels[fact.Lead], fact.Next.Buyer)
		}
	}
	return nil
}

// goes notes to whom a lead goes next.
func (x *exchange) goes(label string, buyer market.Ref) {
	if buyer != 0 {
		x.takers[label] = append(x.takers[label], x.state.NameOf(event.NameBuyer, buyer))
	}
}
