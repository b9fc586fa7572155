//go:build unix

package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/fuzz/witness"
)

// history is one run of concurrent clients.
type history struct {
	recorder
	id       string // begins its keys
	number   int    // in the cluster
	nodes    []node
	budgets  []*budget
	tokens   map[string]string // OAuth tokens by client
	sequence atomic.Int64
	over     atomic.Bool
	deadline time.Time // clients repeat no request after it

	mu       sync.Mutex
	sold     []soldLead
	returned map[*budget][]string
	auction  openAuction // the last
}

// node is a node of the cluster with its public address.
type node struct {
	*witness.ClusterNode
	address string
}

// lastAttempts is the time after the end in which clients repeat requests without a result.
const lastAttempts = 3 * time.Second

func (h *history) isRunning() bool { return !h.over.Load() }

func (h *history) mayRepeat() bool {
	return h.isRunning() || time.Now().Before(h.deadline)
}

// person returns the phone number of a person.
func (h *history) person(slot int) string {
	return fmt.Sprintf("+1415%03d%04d", 230+h.number*2, slot)
}

// fetchTokens requests the tokens of the supplier and of the budgets' buyers.
func (h *history) fetchTokens(ctx context.Context, address string) error {
	h.tokens = map[string]string{}
	request := func(client string, scopes ...string) (err error) {
		for range 20 {
			if h.tokens[client], err = witness.FetchToken(ctx, address, client, scopes...); err == nil {
				return nil
			}
			time.Sleep(100 * time.Millisecond)
		}
		return err
	}
	if err := request(witness.ClientID, "ping", "post"); err != nil {
		return err
	}
	for _, b := range h.budgets {
		if b.isPosted {
			continue
		}
		if err := request(b.buyer, "webhook"); err != nil {
			return err
		}
	}
	return nil
}

const (
	minClients, maxClients = 8, 16
	minSpan, maxSpan       = 2 * time.Second, 3 * time.Second
)

// run runs the clients for a random time, with the fault in between. It returns the killed nodes.
func (h *history) run(random *rand.Rand, c *cluster, f *fault) (killed []*witness.ClusterNode) {
	span := randomTime(random, minSpan, maxSpan)
	h.began, h.deadline = time.Now(), time.Now().Add(span+lastAttempts)
	var clients sync.WaitGroup
	for i := range minClients + random.IntN(maxClients-minClients+1) {
		one := &client{history: h, number: i, random: rand.New(rand.NewPCG(random.Uint64(), uint64(i))), http: http.Client{Transport: &http.Transport{}}}
		clients.Go(one.run)
	}
	operatorRandom := rand.New(rand.NewPCG(random.Uint64(), 1<<32))
	clients.Go(func() { h.topUpRepeatedly(operatorRandom, c) })
	time.Sleep(randomTime(random, span/4, span/2))
	killed = f.inject(c, random)
	time.Sleep(time.Until(h.began.Add(span)))
	h.over.Store(true)
	clients.Wait()
	return killed
}
