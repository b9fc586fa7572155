package engine_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/sealtest"
	"pingpost/engine/state"
	"pingpost/wal"
)

// onDisk is an exchange over the real log.
type onDisk struct {
	*exchange
	dir  string
	disk *wal.Log
}

func beginOnDisk(t *testing.T, r rig) *onDisk {
	t.Helper()
	d := &onDisk{exchange: &exchange{t: t, rig: r, world: newWorld(t), safe: sealtest.New()}, dir: t.TempDir()}
	d.life = &life{world: d.world}
	d.up()
	return d
}

// up opens the log, replays it and serves.
func (d *onDisk) up() {
	d.t.Helper()
	d.disk = must[*wal.Log](d.t)(wal.Open(d.dir, wal.Options{SegmentSize: 64 << 10}))
	d.state = d.reread()
	d.life = &life{world: d.world, number: d.life.number + 1}
	d.engine = engine.New(engine.Options{
		State: d.state, Log: d.disk, Buyers: d.life, Clock: bubbleClock{}, Secret: secret, Entropy: d.entropy,
		Sealer: d.safe.StartAbove(d.state.HighestKeySlot()),
	})
	d.configure(d.rig)
	if err := d.engine.Recover(); err != nil {
		d.t.Fatal(err)
	}
}

// reread is the state that the files make.
func (d *onDisk) reread() *state.State {
	d.t.Helper()
	reader := must[*wal.Reader](d.t)(d.disk.NewReader(0))
	defer reader.Close()
	s := state.New()
	var decoder event.Decoder
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			d.t.Fatal(err)
		}
		s.Apply(e.Seq, e.At, must[event.Event](d.t)(decoder.Decode(e.Data)))
	}
}

// down stops in order and holds the files to the memory.
func (d *onDisk) down() {
	d.t.Helper()
	d.idle()
	seq, live := d.state.Hash()
	if again, replay := d.reread().Hash(); seq != again || live != replay {
		d.t.Errorf("live %x at %d, from the disk %x at %d", live, seq, replay, again)
	}
	if err := d.disk.Close(); err != nil {
		d.t.Error(err)
	}
}

// A crowd on the real log, over three lives: what was sold once stays sold, and
// every answer is the same in the next life.
func TestOnDisk(t *testing.T) {
	r := three(market.Weighted).posting()
	r.buyers[0].caps, r.buyers[1].funds = []string{"total 150"}, "1000"
	r.buyers[2].posts, r.buyers[2].caps = false, []string{"total 100"}
	r.campaigns[0].duplicates = anyOf
	d := beginOnDisk(t, r)
	d.world.behave = func(p *post) reply {
		if p.person[len(p.person)-1] == '7' {
			return refuses
		}
		return accepts
	}
	const people = 500
	first := make([]engine.Answer, people)
	for life := range 3 {
		var wg sync.WaitGroup
		for worker := range 16 {
			wg.Go(func() {
				for i := worker; i < people; i += 16 {
					answer, err := d.send(person(i).withKey(fmt.Sprint("k", i)))
					if err != nil {
						t.Errorf("life %d, person %d: %v", life, i, err)
					}
					if answer.Replayed != (life > 0) {
						t.Errorf("life %d, person %d: replayed is %v", life, i, answer.Replayed)
					}
					answer.Replayed = false
					if life == 0 {
						first[i] = answer
					} else if answer != first[i] {
						t.Errorf("person %d: first %+v, in life %d %+v", i, first[i], life, answer)
					}
				}
			})
		}
		wg.Wait()
		d.down()
		d.up()
	}
	sold := map[string]int{}
	for i := range first {
		sold[first[i].Buyer]++
	}
	if sold["blue"] > 150 || sold["gold"] > 100 || sold["red"] > 100 || sold["blue"]+sold["red"] < 200 {
		t.Errorf("%v", sold)
	}
	d.down()
}

// A disk that fails under load: who was told of a sale finds it after the
// repair, and who was not may send again.
func TestOnAFailingDisk(t *testing.T) {
	r := three(market.RoundRobin)
	r.buyers[0].caps = []string{"total 60"}
	d := beginOnDisk(t, r)
	d.down()
	var syncs int
	broken := errors.New("input/output error")
	d.disk = must[*wal.Log](t)(wal.Open(d.dir, wal.Options{Faults: wal.Faults{Sync: func() error {
		if syncs++; syncs > 25 {
			return broken
		}
		return nil
	}}}))
	d.state = d.reread()
	d.engine = engine.New(engine.Options{
		State: d.state, Log: d.disk, Buyers: d.life, Clock: bubbleClock{}, Secret: secret, Entropy: d.entropy,
		Sealer: d.safe.StartAbove(d.state.HighestKeySlot()),
	})
	d.configure(r)
	const people = 400
	answers := make([]engine.Answer, people)
	failed := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; i < people; i += 4 {
				var err error
				answers[i], err = d.send(person(i).withKey(fmt.Sprint("k", i)))
				if err != nil {
					if !errors.Is(err, wal.ErrFailed) {
						t.Error(err)
					}
					mu.Lock()
					failed++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	d.idle()
	if failed == 0 || failed == people {
		t.Fatalf("%d of %d failed", failed, people)
	}
	if err := d.disk.Close(); !errors.Is(err, wal.ErrFailed) {
		t.Error(err)
	}
	d.up()
	for i := range answers {
		again, err := d.send(person(i).withKey(fmt.Sprint("k", i)))
		if err != nil {
			t.Fatal(err)
		}
		if answers[i].Lead.IsZero() {
			continue
		}
		again.Replayed = false
		if again != answers[i] {
			t.Errorf("person %d was told %+v, and now %+v", i, answers[i], again)
		}
	}
	d.down()
}
