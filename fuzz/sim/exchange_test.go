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
	"pingpost/engine/state/coldtest"
	"pingpost/internal/timer"
)

// exchange is the real engine over several processes, one disk, and simulated endpoints.
type exchange struct {
	tb    testing.TB
	disk  *disk
	world *world
	terms *terms
	keys  *sealtest.InMemorySealer

	engine          *engine.Engine
	state           *state.State
	log             *log
	dead            chan struct{} // closed when the process dies
	dying           *sync.Once
	webhooksStopped chan struct{} // closed when webhook delivery has stopped
	stopWebhookLoop chan struct{} // closed to stop webhook delivery
	graves          sync.WaitGroup

	drawn        uint64
	requests     map[market.RequestID]string // by label
	ids          map[string]market.LeadID
	labels       map[market.LeadID]string
	buyersOfLead map[string][]string // buyers of a lead in order
	slots        map[string]uint64   // key slots by label
	scanned      int
	decoder      event.Decoder
	pings        map[string]engine.SupplierPingAnswer
	drawing      sync.Mutex
}

// clock is the clock of package time, which is virtual in a bubble.
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
		pings: map[string]engine.SupplierPingAnswer{}, buyersOfLead: map[string][]string{}, slots: map[string]uint64{},
	}
}

// startProcess starts a process on the disk's content: from the newest snapshot, unless plain is set or
// there is none. Both ways must give the same state.
func (x *exchange) startProcess(plain bool) error {
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
	if err := x.engine.ResumeErasuresAndDeliveries(); err != nil {
		return err
	}
	x.startWebhooks()
	return nil
}

// options returns the engine's ports.
func (x *exchange) options(dead <-chan struct{}) engine.Options {
	return engine.Options{
		State: x.state, Log: x.log, History: x.log, Buyers: endpoints{x.world, dead}, Clock: clock{}, Entropy: x.entropy, Secret: secret, Sealer: x.keys.StartAboveSlot(x.state.HighestEncryptionKeySlot()),
	}
}

func (x *exchange) configure() error {
	x.log.arm(-1, false)
	return x.engine.Configure(x.terms.configuration(x.tb))
}

// replayed returns the state from the disk, with or without the snapshot.
func (x *exchange) replayed(snapshot bool) (*state.State, error) {
	s, from := state.New(), uint64(0)
	if snapshot {
		s.SetColdFiles(x.disk.cold)
		if _, err := s.LoadSnapshot(bytes.NewReader(x.disk.snapshot)); err != nil {
			return nil, err
		}
		from = x.disk.oldest
	}
	replay := s.NewLogReplay()
	for i, e := range x.disk.all()[from:] {
		more, err := replay.QueueEntry(from+uint64(i)+1, e.at, e.data)
		if err != nil {
			return nil, err
		}
		if !more {
			replay.ApplyQueuedEntries()
		}
	}
	replay.ApplyQueuedEntries()
	return s, nil
}

// entropy returns new bytes, the same in each run.
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

// startWebhooks starts webhook delivery; stopWebhooks stops it.
func (x *exchange) startWebhooks() {
	x.stopWebhookLoop, x.webhooksStopped = make(chan struct{}), make(chan struct{})
	go func(e *engine.Engine, quiet, mailed chan struct{}) {
		defer close(mailed)
		x.world.runWebhooks(e, quiet)
	}(x.engine, x.stopWebhookLoop, x.webhooksStopped)
}

func (x *exchange) stopWebhooks() {
	if x.stopWebhookLoop != nil {
		close(x.stopWebhookLoop)
		<-x.webhooksStopped
		x.stopWebhookLoop = nil
	}
}

// killProcess kills the process now. Its remaining goroutines reach no endpoint.
func (x *exchange) killProcess() {
	x.log.kill()
	x.dying.Do(func() { close(x.dead) })
	e, l := x.engine, x.log
	x.graves.Go(func() { e.Close(); l.close() })
	x.stopWebhooks()
	x.graves.Wait()
}

// stop stops the process in order.
func (x *exchange) stop() {
	x.stopWebhooks()
	x.engine.Close()
	x.log.close()
	x.dying.Do(func() { close(x.dead) })
}

// hotFor is the time after which closed leads leave the memory.
const hotFor = time.Hour

// snapshot writes a snapshot of the live state, and moves old closed leads to a cold file.
func (x *exchange) snapshot() error {
	var buffer bytes.Buffer
	file := coldtest.New(state.ColdRowShape())
	move := &state.RowMove{DecidedBefore: time.Now().Add(-hotFor).UnixNano(), To: file}
	oldest, _, err := x.state.WriteSnapshot(&buffer, move)
	if err != nil {
		return err
	}
	file.Metadata = move.FileMeta()
	x.disk.snapshot, x.disk.oldest, x.disk.cold = buffer.Bytes(), oldest, append([]state.ColdFile{file}, x.state.ColdFiles()...)
	return x.state.ForgetMovedRows(x.disk.cold, time.Now().UnixNano())
}

// request draws the request id for a label.
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

// scan reads labels and buyers of the leads from the log.
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
			x.recordBuyer(label, fact.Sale.Buyer)
		case *event.PostSettled:
			x.recordBuyer(x.labels[fact.Lead], fact.Next.Buyer)
		}
	}
	return nil
}

// recordBuyer records the next buyer of a lead.
func (x *exchange) recordBuyer(label string, buyer market.PermanentNumber) {
	if buyer != 0 {
		x.buyersOfLead[label] = append(x.buyersOfLead[label], x.state.NameOf(event.ObjectBuyer, buyer))
	}
}
