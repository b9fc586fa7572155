package sim

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/timer"
)

// world simulates the buyers' and suppliers' endpoints. It outlives the exchange, and detects
// forbidden requests.
type world struct {
	mu      sync.Mutex
	conduct *conduct
	bodies  map[string]string // by idempotency key
	erased  map[string]bool   // leads that must not be sent any more
	forgot  map[string]bool   // keys of posts that a buyer accepted without an answer
	pings   []pinged
	told    []webhookAttempt
	wrong   []string
}

type pinged struct{ ref, buyer string }

// webhookAttempt is one webhook attempt.
type webhookAttempt struct {
	lead  market.LeadID
	kind  string
	at    int64
	heard bool
}

func newWorld() *world {
	return &world{conduct: newConduct(), bodies: map[string]string{}, erased: map[string]bool{}, forgot: map[string]bool{}}
}

func (w *world) fault(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// endpoints connects a process to the world. A dead process reaches no endpoint.
type endpoints struct {
	*world
	dead <-chan struct{}
}

var leadIn = regexp.MustCompile(`"lead_uuid":"([^"]*)"`)

var refIn = regexp.MustCompile(`"ref":"([^"]*)"`)

func buyerAt(e *market.OutboundEndpoint) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(e.URL, "https://"), ".")
	return name
}

func refOf(body []byte) string {
	if found := refIn.FindSubmatch(body); found != nil {
		return string(found[1])
	}
	return ""
}

// Post is one attempt; the buyer's behavior at its start decides its result.
func (e endpoints) Post(req *market.BuyerPostRequest) market.BuyerPostResult {
	if e.wait(0) {
		return market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect}
	}
	buyer := buyerAt(&req.Endpoint)
	e.mu.Lock()
	if before, ok := e.bodies[req.IdempotencyKey]; ok && before != buyer+string(req.Body) {
		e.fault("%s gets other bytes, or another's, under the key %s:\n%s\n%s", buyer, req.IdempotencyKey, before, req.Body)
	}
	if found := leadIn.FindSubmatch(req.Body); len(found) != 2 || e.erased[string(found[1])] {
		e.fault("%s gets a lead that was erased, or none: %s", buyer, req.Body)
	}
	e.bodies[req.IdempotencyKey] = buyer + string(req.Body)
	r := e.conduct.post(buyer)
	if r.what == "forget" {
		r.what = forgetful(e.forgot[req.IdempotencyKey])
		e.forgot[req.IdempotencyKey] = true
	}
	e.mu.Unlock()
	if e.wait(min(r.after, time.Until(req.Deadline))) {
		return market.BuyerPostResult{Verdict: market.VerdictUnknown, Fault: market.FaultBroken}
	}
	if r.after >= postTimeout {
		return market.BuyerPostResult{Verdict: market.VerdictUnknown, Fault: market.FaultTimeout, Elapsed: r.after}
	}
	switch r.what {
	case "refuse":
		return market.BuyerPostResult{Verdict: market.VerdictRefused, Status: 422, Code: "no_thanks", Final: true}
	case "forbid":
		return market.BuyerPostResult{Verdict: market.VerdictRefused, Status: 403, Code: "forbidden"}
	case "fail":
		return market.BuyerPostResult{Verdict: market.VerdictUnknown, Status: 503}
	case "unreached":
		return market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect}
	case "busy":
		return market.BuyerPostResult{Verdict: market.VerdictBusy, Status: 429, RetryAfter: r.again}
	}
	return market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "theirs"}
}

// wait advances the time. It returns true if the process died meanwhile.
func (e endpoints) wait(d time.Duration) bool {
	select {
	case <-e.dead:
		return true
	default:
	}
	if d <= 0 {
		return false
	}
	select {
	case <-e.dead:
		return true
	case <-timer.After(d):
		return false
	}
}

// Ping is one ping, with a result like Post.
func (e endpoints) Ping(req *market.BuyerPingRequest) market.BuyerPingResult {
	buyer, ref := buyerAt(&req.Endpoint), refOf(req.Body)
	e.mu.Lock()
	e.pings = append(e.pings, pinged{ref, buyer})
	if bytes.Contains(req.Body, []byte("example.com")) || bytes.Contains(req.Body, []byte("+1415")) {
		e.fault("a ping to %s carries a person: %s", buyer, req.Body)
	}
	o := e.conduct.bid(buyer, ref)
	e.mu.Unlock()
	left := time.Until(req.Deadline)
	if e.wait(min(o.after, left)) || o.after > left {
		return market.BuyerPingResult{Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout}
	}
	switch o.what {
	case "none":
		return market.BuyerPingResult{Outcome: market.OutcomeNoBid, Status: 200, Reason: "not_today"}
	case "error":
		return market.BuyerPingResult{Outcome: market.OutcomeError, Status: 500}
	case "garbage":
		return market.BuyerPingResult{Outcome: market.OutcomeInvalid, Status: 200, Fault: market.FaultMalformed}
	case "throttle":
		return market.BuyerPingResult{Outcome: market.OutcomeRateLimited, Status: 429}
	}
	bid := market.Bid{Amount: market.Money(o.amount), Token: "tok-" + buyer}
	if o.what == "euro" {
		bid.Currency = market.Currency{'E', 'U', 'R'}
	}
	return market.BuyerPingResult{Status: 200, Bid: bid}
}

// runWebhooks sends due webhooks until stop. A webhook whose process died before its event was
// recorded is sent again.
func (w *world) runWebhooks(e *engine.Engine, stop <-chan struct{}) {
	for {
		next := time.Now().Add(time.Hour)
		for _, supplier := range e.State().SuppliersWithPendingWebhooks() {
			for {
				h, ok := e.State().ClaimDueWebhook(supplier, time.Now().UnixNano())
				if !ok {
					break
				}
				if !w.sendWebhook(e, h) {
					return
				}
			}
			if due, ok := e.State().NextWebhookDueTime(supplier); ok && time.Unix(0, due).Before(next) {
				next = time.Unix(0, due)
			}
		}
		select {
		case <-timer.After(time.Until(next)):
		case <-e.State().WebhookMayBeDue():
		case <-stop:
			return
		}
	}
}
