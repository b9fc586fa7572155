package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// client sends all requests except the suppliers' and buyers' own.
var client = &http.Client{Timeout: 30 * time.Second}

// SupplierPool runs concurrent workers of one supplier. They share the account and the answer
// log, and send only scheduled leads.
type SupplierPool struct {
	config        *Config
	answers       answerLog
	statusReports answerLog // answers to the buyers' status reports
	locator       *Locator
	token         string            // OAuth token for ping and post
	buyerTokens   map[string]string // OAuth tokens of the buyers that send status reports
	tasks         chan workerTask   // nil: send a lead
	stop          context.CancelFunc
	workers       sync.WaitGroup

	mu          sync.Mutex
	lookups     []*leadLookup
	scheduled   int
	finished    int // tasks that were answered
	personCount int
	onceCount   int
	lastIngest  *clientRequest // the most recent ingest
}

const (
	workerCount       = 24
	samePersonPercent = 8 // percent of the leads about an earlier person
	repeatPercent     = 10
	testPercent       = 8 // percent of the leads that are tests
)

func startSuppliers(t *Config, d *Locator, token string, reporters map[string]string, seed uint64) *SupplierPool {
	ctx, stop := context.WithCancel(context.Background())
	c := &SupplierPool{config: t, locator: d, token: token, buyerTokens: reporters, tasks: make(chan workerTask, 1<<16), stop: stop}
	for i := range workerCount {
		c.workers.Add(1)
		go func() {
			defer c.workers.Done()
			c.runWorker(ctx, i, rand.New(rand.NewPCG(seed, uint64(i))))
		}()
	}
	return c
}

// Stop stops all workers.
func (c *SupplierPool) Stop() {
	c.stop()
	c.workers.Wait()
}

// SendLeads schedules n leads.
func (c *SupplierPool) SendLeads(n int) {
	for range n {
		c.schedule(nil)
	}
}

// workerTask is a piece of work for a worker. It returns false when the context ends.
type workerTask func(ctx context.Context, client *sellerClient) bool

// schedule queues a task; nil sends one lead.
func (c *SupplierPool) schedule(e workerTask) {
	c.mu.Lock()
	c.scheduled++
	c.mu.Unlock()
	c.tasks <- e
}

// Answered returns the number of finished tasks.
func (c *SupplierPool) Answered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finished
}

// IsIdle reports whether all scheduled tasks are finished.
func (c *SupplierPool) IsIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finished == c.scheduled
}

// runWorker runs one worker. Some tasks are followed by a repeated request or a lookup.
func (c *SupplierPool) runWorker(ctx context.Context, desk int, random *rand.Rand) {
	client := c.newClient(random)
	defer client.client.CloseIdleConnections()
	for number := 0; ; number++ {
		var do workerTask
		select {
		case do = <-c.tasks:
		case <-ctx.Done():
			return
		}
		if do == nil {
			name := fmt.Sprintf("desk-%d-%d", desk, number)
			do = func(ctx context.Context, client *sellerClient) bool { return c.sendLead(ctx, client, name, random) }
		}
		if !do(ctx, client) {
			return
		}
		if !c.repeatOrLookUp(ctx, client, random) {
			return
		}
		c.mu.Lock()
		c.finished++
		c.mu.Unlock()
	}
}

// repeatOrLookUp sometimes repeats an answered request or looks up a lead. It returns false
// when the context ends.
func (c *SupplierPool) repeatOrLookUp(ctx context.Context, client *sellerClient, random *rand.Rand) bool {
	if old := c.answers.pickRandom(random); old != nil && random.IntN(100) < repeatPercent {
		if !c.repeatRequest(ctx, client, old) {
			return false
		}
	}
	if old := c.answers.pickRandom(random); old != nil && random.IntN(100) < lookupPercent {
		return c.sendLookup(ctx, client, old, random)
	}
	return true
}

func (c *SupplierPool) newClient(random *rand.Rand) *sellerClient {
	return &sellerClient{NewClient(c.locator, APIKey, random), c.token}
}

// sendLead sells one lead by ingest, ping and post, or a buyer's choice. It returns false when
// the context ends.
func (c *SupplierPool) sendLead(ctx context.Context, client *sellerClient, name string, random *rand.Rand) bool {
	if random.IntN(100) < auctionPercent {
		return c.pingAndPost(ctx, client, name, random)
	}
	if random.IntN(100) < choicePercent {
		return c.askAndIngest(ctx, client, name, random)
	}
	o := c.newIngest(name, random, anyCampaign)
	o.isTest = drawIsTest(random)
	return c.sendAndRecord(ctx, client, &c.answers, o)
}

// drawIsTest decides at random whether a request is a test.
func drawIsTest(random *rand.Rand) bool { return random.IntN(100) < testPercent }

// RepeatRequests schedules repetitions of n random requests, or of all if n is zero. Their answers
// must be equal.
func (c *SupplierPool) RepeatRequests(n int, random *rand.Rand) {
	asked, _ := c.answers.answersAndViolations()
	reports, _ := c.statusReports.answersAndViolations()
	asked = append(asked, reports...)
	random.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	if n != 0 {
		asked = asked[:min(n, len(asked))]
	}
	for _, old := range asked {
		c.schedule(func(ctx context.Context, client *sellerClient) bool { return c.repeatRequest(ctx, client, old) })
	}
}

// repeatRequest repeats an answered request. It returns false when the context ends.
func (c *SupplierPool) repeatRequest(ctx context.Context, client *sellerClient, old *answeredRequest) bool {
	a, ok := client.send(ctx, old.clientRequest)
	if ok {
		c.answers.compareRepeat(old, a)
	}
	return ok
}

// newIngest returns a new lead. Some leads are about an earlier person of the campaign, with
// the same phone or e-mail. Half of these repeat the newest person, whose first lead is
// probably still in flight.
func (c *SupplierPool) newIngest(key string, random *rand.Rand, in func(*campaignConfig) bool) *clientRequest {
	o := &clientRequest{key: key, campaign: c.config.drawCampaign(random, in)}
	repeats, latest, byPhone := random.IntN(100) < samePersonPercent, random.IntN(2) == 0, random.IntN(2) == 0
	settled := c.answers.pickRandom(random)
	c.mu.Lock()
	c.personCount++
	o.phone = fmt.Sprintf("+1415%03d%04d", 230+c.personCount/10_000, c.personCount%10_000)
	o.email = fmt.Sprintf("person%d@example.com", c.personCount)
	known := c.lastIngest
	if !latest && settled != nil && settled.phone != "" {
		known = settled.clientRequest
	}
	switch {
	case !repeats || known == nil || !in(c.config.campaignByID(known.campaign)):
	case byPhone:
		o.campaign, o.phone = known.campaign, known.phone
	default:
		o.campaign, o.email = known.campaign, known.email
	}
	c.lastIngest = o
	c.mu.Unlock()
	o.body = Encode(o.ingestBody())
	return o
}

// ingestBody returns the body of an ingest.
func (o *clientRequest) ingestBody() Object {
	return Object{
		"flo_campaign_id": o.campaign, "flo_supplier_id": SupplierID, "state": "CA",
		"first_name": "Ann", "last_name": "Example", "phone": o.phone, "email": o.email,
	}
}
