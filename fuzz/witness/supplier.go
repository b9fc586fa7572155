package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// client is every request's but the suppliers' own.
var client = &http.Client{Timeout: 30 * time.Second}

// Crowd is all suppliers' desks: they share one account, one ledger, and the
// permits without which nobody sends a lead.
type Crowd struct {
	terms     *Terms
	ledger    ledger
	reports   ledger // of what buyers said of leads
	looks     looks
	door      *Door
	token     string            // with which some of them sell by ping and post; empty: none does
	reporters map[string]string // tokens of the buyers that report on their leads
	permits   chan errand       // nil: for a lead
	stop      context.CancelFunc
	desks     sync.WaitGroup

	mu      sync.Mutex
	granted int
	done    int // permits that came to an answer
	people  int
	tries   int
	last    *order // that was made
}

const (
	desks       = 24
	repeatShare = 8 // of a hundred leads, about somebody who came before
	askedShare  = 10
	testShare   = 8 // likewise, of a full exchange's: tests
)

func gather(t *Terms, d *Door, token string, reporters map[string]string, seed uint64) *Crowd {
	ctx, stop := context.WithCancel(context.Background())
	c := &Crowd{terms: t, door: d, token: token, reporters: reporters, permits: make(chan errand, 1<<16), stop: stop}
	for i := range desks {
		c.desks.Add(1)
		go func() {
			defer c.desks.Done()
			c.work(ctx, i, rand.New(rand.NewPCG(seed, uint64(i))))
		}()
	}
	return c
}

// Dismiss sends everybody home.
func (c *Crowd) Dismiss() {
	c.stop()
	c.desks.Wait()
}

// Grant lets so many leads be sent.
func (c *Crowd) Grant(n int) {
	for range n {
		c.let(nil)
	}
}

// An errand is something else that a desk is sent to do; false: the context has
// ended.
type errand func(ctx context.Context, call *caller) bool

// let permits one lead, or with an errand that.
func (c *Crowd) let(e errand) {
	c.mu.Lock()
	c.granted++
	c.mu.Unlock()
	c.permits <- e
}

// Answered counts the permits that came to an answer.
func (c *Crowd) Answered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

// IsIdle: all that may be sent was sent and answered.
func (c *Crowd) IsIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done == c.granted
}

// work is one desk's: for each permit a lead, and at times an old one again.
func (c *Crowd) work(ctx context.Context, desk int, chance *rand.Rand) {
	call := c.caller(chance)
	defer call.client.CloseIdleConnections()
	for number := 0; ; number++ {
		var do errand
		select {
		case do = <-c.permits:
		case <-ctx.Done():
			return
		}
		if do == nil {
			name := fmt.Sprintf("desk-%d-%d", desk, number)
			do = func(ctx context.Context, call *caller) bool { return c.sell(ctx, call, name, chance) }
		}
		if !do(ctx, call) {
			return
		}
		if !c.again(ctx, call, chance) {
			return
		}
		c.mu.Lock()
		c.done++
		c.mu.Unlock()
	}
}

// again has something that was answered asked once more, or looked at, at times; false:
// the context has ended.
func (c *Crowd) again(ctx context.Context, call *caller, chance *rand.Rand) bool {
	if old := c.ledger.pick(chance); old != nil && chance.IntN(100) < askedShare {
		a, ok := call.send(ctx, old.order)
		if !ok {
			return false
		}
		c.ledger.compare(old, a)
	}
	if old := c.ledger.pick(chance); old != nil && chance.IntN(100) < lookedShare {
		return c.look(ctx, call, old, chance)
	}
	return true
}

func (c *Crowd) caller(chance *rand.Rand) *caller {
	return &caller{NewCaller(c.door, apiKey, chance), c.token}
}

// sell brings one lead to its end; false: the context has ended.
func (c *Crowd) sell(ctx context.Context, call *caller, name string, chance *rand.Rand) bool {
	share := offerShare
	if c.terms.full {
		share = fewShare
	}
	if c.token != "" && chance.IntN(100) < share {
		return c.offer(ctx, call, name, chance)
	}
	if c.terms.full && chance.IntN(100) < choiceShare {
		return c.choose(ctx, call, name, chance)
	}
	o := c.order(name, chance, anywhere)
	o.test = c.isTest(chance)
	a, ok := call.send(ctx, o)
	return ok && c.report(ctx, call, c.ledger.enter(o, a), chance)
}

// isTest draws whether something is only tried out.
func (c *Crowd) isTest(chance *rand.Rand) bool {
	return c.terms.full && chance.IntN(100) < testShare
}

// AskAgain asks for so many answers again, all of them where n is zero.
func (c *Crowd) AskAgain(n int, chance *rand.Rand) {
	asked, _ := c.ledger.page()
	reports, _ := c.reports.page()
	asked = append(asked, reports...)
	chance.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	if n != 0 {
		asked = asked[:min(n, len(asked))]
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var askers sync.WaitGroup
	queue := make(chan *told)
	for range desks {
		call := c.caller(rand.New(rand.NewPCG(chance.Uint64(), 0)))
		askers.Add(1)
		go func() {
			defer askers.Done()
			defer call.client.CloseIdleConnections()
			for old := range queue {
				if a, ok := call.send(ctx, old.order); ok {
					c.ledger.compare(old, a)
				} else {
					c.ledger.compare(old, Answer{Text: "no answer at all"})
				}
			}
		}()
	}
	for _, old := range asked {
		queue <- old
	}
	close(queue)
	askers.Wait()
}

// order makes up a lead. A share of them is about somebody who came before in
// the campaign, known by phone or e-mail; half of these about whoever came last,
// whose own lead is most likely still under way.
func (c *Crowd) order(key string, chance *rand.Rand, in func(*campaignTerms) bool) *order {
	o := &order{key: key, campaign: c.terms.draw(chance, in)}
	repeats, latest, byPhone := chance.IntN(100) < repeatShare, chance.IntN(2) == 0, chance.IntN(2) == 0
	settled := c.ledger.pick(chance)
	c.mu.Lock()
	c.people++
	o.phone = fmt.Sprintf("+1415%03d%04d", 230+c.people/10_000, c.people%10_000)
	o.email = fmt.Sprintf("person%d@example.com", c.people)
	known := c.last
	if !latest && settled != nil && settled.phone != "" {
		known = settled.order
	}
	switch {
	case !repeats || known == nil || !in(c.terms.campaign(known.campaign)):
	case byPhone:
		o.campaign, o.phone = known.campaign, known.phone
	default:
		o.campaign, o.email = known.campaign, known.email
	}
	c.last = o
	c.mu.Unlock()
	o.body = encode(o.person())
	return o
}

// person is an ingest's body.
func (o *order) person() object {
	return object{
		"flo_campaign_id": o.campaign, "flo_supplier_id": supplier, "state": "CA",
		"first_name": "Ann", "last_name": "Example", "phone": o.phone, "email": o.email,
	}
}
