package engine_test

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// reply is how a buyer meets one try.
type reply struct {
	after  time.Duration // never: hangs until the attempt is given up
	result market.PostResult
	took   bool // the buyer has the lead from then on, whatever it answers
}

const never = time.Duration(1<<62 - 1)

var (
	accepts   = reply{result: market.PostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "theirs"}, took: true}
	refuses   = reply{result: market.PostResult{Verdict: market.VerdictRefused, Status: 422, Code: "no_thanks", Final: true}}
	forbids   = reply{result: market.PostResult{Verdict: market.VerdictRefused, Status: 403, Code: "forbidden"}}
	renews    = reply{result: market.PostResult{Verdict: market.VerdictRefused, Status: 401, Code: "unauthorized", CredentialRenewed: true}}
	unreached = reply{result: market.PostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect}}
	breaks    = reply{result: market.PostResult{Verdict: market.VerdictUnknown, Status: 503}}
	swallows  = reply{result: market.PostResult{Verdict: market.VerdictUnknown, Fault: market.FaultBroken}, took: true}
	hangs     = reply{after: never, result: market.PostResult{Verdict: market.VerdictAccepted}}
)

// in is the same reply, after a while.
func (r reply) in(d time.Duration) reply { r.after = d; return r }

func busy(retryAfter time.Duration) reply {
	return reply{result: market.PostResult{Verdict: market.VerdictBusy, Status: 429, RetryAfter: retryAfter}}
}

// world is all buyers' endpoints. It outlives the exchange, as buyers do, and
// watches for what no exchange may ever do, whatever the test is about.
type world struct {
	t testing.TB

	mu      sync.Mutex
	scripts map[string][]reply // by buyer; the last one repeats
	behave  func(p *post) reply
	posts   []*post

	bidding map[string][]offer // by buyer; the last one repeats
	asked   map[string]int     // how often since then
	pings   []*pinged

	underway sync.WaitGroup // grows under mu
}

// post is one attempt as the buyer sees it.
type post struct {
	life   int // of the exchange that made it
	at     time.Duration
	ended  bool
	buyer  string
	lead   string
	person string // phone
	key    string
	body   []byte
	try    int // of this lead at this buyer, from 1
	answer reply
}

// began is when virtual time begins; other tests never print what they measure.
var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func newWorld(t testing.TB) *world {
	return &world{t: t, scripts: map[string][]reply{}, asked: map[string]int{}}
}

// script sets what a buyer answers to the tries of each lead.
func (w *world) script(buyer string, replies ...reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scripts[buyer] = replies
}

// endpointOf is where a buyer takes leads, with something in every field.
func endpointOf(buyer string) *market.Endpoint {
	at := "https://" + buyer + ".example/"
	return &market.Endpoint{
		URL: at + "v1/post", Credential: buyer + "/auth", Header: "Authorization", Scheme: "Bearer ",
		OAuth: &market.OAuthClient{TokenURL: at + "oauth/token", ClientID: buyer, Scope: "post"},
	}
}

// inTests is the name under which a buyer's test endpoints are known here.
func inTests(buyer string) string { return buyer + ".test" }

func isTest(buyer string) bool { return strings.HasSuffix(buyer, ".test") }

var (
	leadInBody   = regexp.MustCompile(`^\{"auction_id":"((?:lead|auc)_[0-9a-z]{26})"(?:,"bid_token":"([^"]*)")?,"lead":\{"lead_uuid":"(lead_[0-9a-z]{26})"`)
	personInBody = regexp.MustCompile(`"phone":"(\+\d+)"`)
)

// enter notes an attempt and says how it is met.
func (w *world) enter(life int, req *market.PostRequest) *post {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.underway.Add(1)
	p := &post{life: life, at: time.Since(began), key: req.IdempotencyKey, body: bytes.Clone(req.Body), try: 1}
	p.buyer = strings.TrimSuffix(strings.TrimPrefix(req.Endpoint.URL, "https://"), ".example/v1/post")
	configured := endpointOf(p.buyer)
	configured.Dialect = req.Endpoint.Dialect
	if !reflect.DeepEqual(&req.Endpoint, configured) {
		w.t.Errorf("a post to an endpoint that nobody has: %+v", req.Endpoint)
	}
	expectEqual(w.t, req.Test, isTest(p.buyer), p.buyer, " is posted to as a test")
	ids := leadInBody.FindSubmatch(req.Body)
	person := personInBody.FindSubmatch(req.Body)
	if ids == nil || person == nil {
		w.t.Errorf("a body that is no post: %s", req.Body)
		return p
	}
	p.lead, p.person = string(ids[3]), string(person[1])
	token := ""
	if auction := string(ids[1]); auction != p.lead {
		token = w.tokenOf(p.buyer, auction)
	}
	if (token == "") != bytes.Equal(ids[1], ids[3]) || string(ids[2]) != token {
		w.t.Errorf("%s gets a post by a bid that it did not make: %s", p.buyer, req.Body)
	}
	if req.RequestID.IsZero() || !strings.HasPrefix(req.IdempotencyKey, "post_") {
		w.t.Errorf("a post without a request id or key: %+v", req)
	}
	for _, before := range w.posts {
		w.compare(before, p)
	}
	w.posts = append(w.posts, p)
	switch replies := w.scripts[p.buyer]; {
	case w.behave != nil:
		p.answer = w.behave(p)
	case len(replies) > 0:
		p.answer = replies[min(p.try, len(replies))-1]
	default:
		p.answer = accepts
	}
	return p
}

// compare looks at an earlier post and a new one.
func (w *world) compare(before, p *post) {
	if before.lead != p.lead {
		if before.key == p.key {
			w.t.Errorf("two leads have the key %s", p.key)
		}
		return
	}
	if !before.ended && before.life == p.life {
		w.t.Errorf("lead %s has two couriers: at %s and at %s", p.lead, before.buyer, p.buyer)
	}
	if before.buyer == p.buyer {
		p.try++
		expectEqual(w.t, before.key, p.key, "lead ", p.lead, ": another key in a later try at ", p.buyer)
		if !bytes.Equal(before.body, p.body) {
			w.t.Errorf("lead %s: other bytes in a later try at %s:\n%s\n%s", p.lead, p.buyer, before.body, p.body)
		}
		return
	}
	if before.key == p.key {
		w.t.Errorf("lead %s: the same key at %s and at %s", p.lead, before.buyer, p.buyer)
	}
	if before.doubtful() {
		w.t.Errorf("lead %s went to %s although %s may have it", p.lead, p.buyer, before.buyer)
	}
}

// doubtful tells whether the buyer may have the lead by this post.
func (p *post) doubtful() bool {
	v := p.answer.result.Verdict
	return !p.ended || p.answer.took || v == market.VerdictUnknown || v == market.VerdictAccepted
}

// leave ends an attempt. timedOut: the buyer did not answer in time.
func (w *world) leave(p *post, elapsed time.Duration, timedOut bool) market.PostResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.ended = true
	if timedOut {
		p.answer.result = market.PostResult{Verdict: market.VerdictUnknown, Fault: market.FaultTimeout}
	}
	result := p.answer.result
	result.Elapsed = elapsed
	return result
}

// life is one process's way to the world and to its log. A dead one posts and
// logs nothing more, whatever is left of its goroutines.
type life struct {
	*world
	log    *memoryLog
	number int
	mu     sync.Mutex
	dead   bool
}

func (l *life) Append(data []byte, w engine.CommitWaiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errDead
	}
	return l.log.Append(data, w)
}

func (l *life) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

func (l *life) Post(req *market.PostRequest) market.PostResult {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return unreached.result
	}
	p := l.enter(l.number, req)
	defer l.underway.Done()
	left := time.Until(req.Deadline)
	if wait := min(p.answer.after, left); wait > 0 {
		time.Sleep(wait)
	}
	return l.leave(p, min(p.answer.after, left), p.answer.after > left)
}

// tried lists the posts so far as "buyer@milliseconds".
func (w *world) tried() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.posts {
		list = append(list, p.buyer+"@"+p.at.String())
	}
	return list
}

// end waits for the attempts that are still under way.
func (w *world) end() {
	w.mu.Lock()
	n := len(w.posts)
	w.mu.Unlock()
	w.underway.Wait()
	expectEqual(w.t, len(w.posts), n, len(w.posts)-n, " posts after the end")
}

// takers lists, by person, the buyers that have them.
func (w *world) takers() map[string]map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	takers := map[string]map[string]bool{}
	for _, p := range w.posts {
		if p.answer.took {
			if takers[p.person] == nil {
				takers[p.person] = map[string]bool{}
			}
			takers[p.person][p.buyer] = true
		}
	}
	return takers
}
