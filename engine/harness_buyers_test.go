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

// postReply is a buyer's scripted reply to one attempt.
type postReply struct {
	delay        time.Duration // never: hangs until the deadline
	result       market.BuyerPostResult
	buyerHasLead bool // the buyer has stored the lead, even if its reply fails
}

const never = time.Duration(1<<62 - 1)

var (
	accepts          = postReply{result: market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "theirs"}, buyerHasLead: true}
	refuses          = postReply{result: market.BuyerPostResult{Verdict: market.VerdictRefused, Status: 422, Code: "no_thanks", Final: true}}
	refusesNotFinal  = postReply{result: market.BuyerPostResult{Verdict: market.VerdictRefused, Status: 403, Code: "forbidden"}}
	renewsCredential = postReply{result: market.BuyerPostResult{Verdict: market.VerdictRefused, Status: 401, Code: "unauthorized", CredentialRenewed: true}}
	unreachable      = postReply{result: market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect}}
	serverError      = postReply{result: market.BuyerPostResult{Verdict: market.VerdictUnknown, Status: 503}}
	acceptsSilently  = postReply{result: market.BuyerPostResult{Verdict: market.VerdictUnknown, Fault: market.FaultBroken}, buyerHasLead: true}
	hangs            = postReply{delay: never, result: market.BuyerPostResult{Verdict: market.VerdictAccepted}}
)

// after returns the same reply with a delay.
func (r postReply) after(d time.Duration) postReply { r.delay = d; return r }

func busy(retryAfter time.Duration) postReply {
	return postReply{result: market.BuyerPostResult{Verdict: market.VerdictBusy, Status: 429, RetryAfter: retryAfter}}
}

// fakeBuyers simulates the endpoints of all buyers, across restarts of the exchange. It checks
// the rules that hold for all posts and pings.
type fakeBuyers struct {
	t testing.TB

	mu           sync.Mutex
	replyScripts map[string][]postReply // by buyer; the last one repeats
	replyTo      func(p *receivedPost) postReply
	posts        []*receivedPost

	bidScripts map[string][]bidReply // by buyer; the last one repeats
	pingCounts map[string]int        // since the script was set
	pings      []*receivedPing

	running sync.WaitGroup // grows under mu
}

// receivedPost is one attempt as the buyer received it.
type receivedPost struct {
	process int // number of the process that sent it
	at      time.Duration
	ended   bool
	buyer   string
	lead    string
	person  string // phone
	key     string
	body    []byte
	attempt int // of this lead at this buyer, from 1
	answer  postReply
}

// virtualStart is the time at which synctest starts its virtual clock.
var virtualStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func newFakeBuyers(t testing.TB) *fakeBuyers {
	return &fakeBuyers{t: t, replyScripts: map[string][]postReply{}, pingCounts: map[string]int{}}
}

// scriptPosts sets the buyer's replies to the attempts of each lead. The last one repeats.
func (w *fakeBuyers) scriptPosts(buyer string, replies ...postReply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replyScripts[buyer] = replies
}

// endpointOf returns the buyer's post endpoint, with a value in every field.
func endpointOf(buyer string) *market.OutboundEndpoint {
	at := "https://" + buyer + ".example/"
	return &market.OutboundEndpoint{
		URL: at + "v1/post", Credential: buyer + "/auth", Header: "Authorization", Scheme: "Bearer ",
		OAuth: &market.OutboundOAuthClient{TokenURL: at + "oauth/token", ClientID: buyer, Scope: "post"},
	}
}

// testBuyerID returns the name of a buyer's test endpoints.
func testBuyerID(buyer string) string { return buyer + ".test" }

func isTestBuyer(buyer string) bool { return strings.HasSuffix(buyer, ".test") }

var (
	leadInBody   = regexp.MustCompile(`^\{"auction_id":"((?:lead|auc)_[0-9a-z]{26})"(?:,"bid_token":"([^"]*)")?,"lead":\{"lead_uuid":"(lead_[0-9a-z]{26})"`)
	personInBody = regexp.MustCompile(`"phone":"(\+\d+)"`)
)

// recordPost checks and records an attempt, and selects its reply.
func (w *fakeBuyers) recordPost(life int, req *market.BuyerPostRequest) *receivedPost {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running.Add(1)
	p := &receivedPost{process: life, at: time.Since(virtualStart), key: req.IdempotencyKey, body: bytes.Clone(req.Body), attempt: 1}
	p.buyer = strings.TrimSuffix(strings.TrimPrefix(req.Endpoint.URL, "https://"), ".example/v1/post")
	configured := endpointOf(p.buyer)
	configured.AdapterProtocol = req.Endpoint.AdapterProtocol
	if !reflect.DeepEqual(&req.Endpoint, configured) {
		w.t.Errorf("post to an unknown endpoint: %+v", req.Endpoint)
	}
	expectEqual(w.t, req.Test, isTestBuyer(p.buyer), p.buyer, ": test flag of the post")
	ids := leadInBody.FindSubmatch(req.Body)
	person := personInBody.FindSubmatch(req.Body)
	if ids == nil || person == nil {
		w.t.Errorf("invalid post body: %s", req.Body)
		return p
	}
	p.lead, p.person = string(ids[3]), string(person[1])
	token := ""
	if auction := string(ids[1]); auction != p.lead {
		token = w.bidTokenOf(p.buyer, auction)
	}
	if (token == "") != bytes.Equal(ids[1], ids[3]) || string(ids[2]) != token {
		w.t.Errorf("post to %s names a bid that it did not make: %s", p.buyer, req.Body)
	}
	if req.RequestID.IsZero() || !strings.HasPrefix(req.IdempotencyKey, "post_") {
		w.t.Errorf("post without a request id or key: %+v", req)
	}
	for _, before := range w.posts {
		w.compareWithEarlier(before, p)
	}
	w.posts = append(w.posts, p)
	switch replies := w.replyScripts[p.buyer]; {
	case w.replyTo != nil:
		p.answer = w.replyTo(p)
	case len(replies) > 0:
		p.answer = replies[min(p.attempt, len(replies))-1]
	default:
		p.answer = accepts
	}
	return p
}

// compareWithEarlier checks a new post against an earlier one.
func (w *fakeBuyers) compareWithEarlier(before, p *receivedPost) {
	if before.lead != p.lead {
		if before.key == p.key {
			w.t.Errorf("two leads have the key %s", p.key)
		}
		return
	}
	if !before.ended && before.process == p.process {
		w.t.Errorf("lead %s has two concurrent posts: to %s and to %s", p.lead, before.buyer, p.buyer)
	}
	if before.buyer == p.buyer {
		p.attempt++
		expectEqual(w.t, before.key, p.key, "lead ", p.lead, ": key of a later attempt at ", p.buyer)
		if !bytes.Equal(before.body, p.body) {
			w.t.Errorf("lead %s: other bytes in a later attempt at %s:\n%s\n%s", p.lead, p.buyer, before.body, p.body)
		}
		return
	}
	if before.key == p.key {
		w.t.Errorf("lead %s: the same key at %s and at %s", p.lead, before.buyer, p.buyer)
	}
	if before.isInDoubt() {
		w.t.Errorf("lead %s went to %s although %s may have it", p.lead, p.buyer, before.buyer)
	}
}

// isInDoubt reports whether the buyer may have the lead after this post.
func (p *receivedPost) isInDoubt() bool {
	v := p.answer.result.Verdict
	return !p.ended || p.answer.buyerHasLead || v == market.VerdictUnknown || v == market.VerdictAccepted
}

// endPost ends an attempt. timedOut: the deadline passed before the buyer's reply.
func (w *fakeBuyers) endPost(p *receivedPost, elapsed time.Duration, timedOut bool) market.BuyerPostResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.ended = true
	if timedOut {
		p.answer.result = market.BuyerPostResult{Verdict: market.VerdictUnknown, Fault: market.FaultTimeout}
	}
	result := p.answer.result
	result.Elapsed = elapsed
	return result
}

// testProcess connects one process of the exchange to the buyers and the log. After kill it
// posts and logs nothing, even if the process's goroutines still run.
type testProcess struct {
	*fakeBuyers
	log    *memoryLog
	number int
	mu     sync.Mutex
	dead   bool
}

func (l *testProcess) Append(data []byte, w engine.CommitWaiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errLogFailed
	}
	return l.log.Append(data, w)
}

func (l *testProcess) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

func (l *testProcess) Post(req *market.BuyerPostRequest) market.BuyerPostResult {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return unreachable.result
	}
	p := l.recordPost(l.number, req)
	defer l.running.Done()
	left := time.Until(req.Deadline)
	if wait := min(p.answer.delay, left); wait > 0 {
		time.Sleep(wait)
	}
	return l.endPost(p, min(p.answer.delay, left), p.answer.delay > left)
}

// postAttempts returns the posts so far as "buyer@time".
func (w *fakeBuyers) postAttempts() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.posts {
		list = append(list, p.buyer+"@"+p.at.String())
	}
	return list
}

// waitForAttempts waits for the running attempts.
func (w *fakeBuyers) waitForAttempts() {
	w.mu.Lock()
	n := len(w.posts)
	w.mu.Unlock()
	w.running.Wait()
	expectEqual(w.t, len(w.posts), n, len(w.posts)-n, " posts after the exchange closed")
}

// buyersByPerson returns the buyers that have each person's lead.
func (w *fakeBuyers) buyersByPerson() map[string]map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	takers := map[string]map[string]bool{}
	for _, p := range w.posts {
		if p.answer.buyerHasLead {
			if takers[p.person] == nil {
				takers[p.person] = map[string]bool{}
			}
			takers[p.person][p.buyer] = true
		}
	}
	return takers
}
