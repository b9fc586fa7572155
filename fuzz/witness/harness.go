//go:build unix

package witness

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pingpost/engine/market"
)

// Harness is an exchange with its suppliers, buyers, webhook receiver and operator, and the
// observations so far.
type Harness struct {
	*Exchange                  // in a cluster that of the node that decided at the last FollowLeader
	Cluster           *Cluster // nil: a single exchange
	locator           *Locator // of the suppliers
	Suppliers         *SupplierPool
	AdminEditor       *AdminEditor
	config            *Config
	buyers            buyerPeers
	receiver          *peerProcess
	lastDump          []string // the log's dump at the last audit
	topUpCount        int      // number of requested top-ups
	actionsMu         sync.Mutex
	acknowledged      []operatorAction // acknowledged actions of the operator
	pauses            []buyerPause
	statusReportCount int   // number of scheduled status reports
	lateSignatures    int64 // webhooks that the receiver refused because of a wrong clock
	readRandom        *rand.Rand
	readTally         Tally
}

// NewHarness starts the buyers and the webhook receiver, and then the exchange in dir. The
// suppliers wait for SendLeads.
func NewHarness(t testing.TB, program, dir string, config *Config, seed uint64) *Harness {
	t.Helper()
	x := NewExchange(t, program, dir)
	x.EnableBackup()
	s := &Harness{Exchange: x, config: config, locator: x.locator}
	s.startPeers(program, seed)
	x.Configure(config.document(0))
	x.Start()
	s.startClients(editorTarget{adminURL: x.adminAddress, isUp: x.locator.isUp}, seed)
	return s
}

// startPeers starts the buyers and the webhook receiver.
func (s *Harness) startPeers(program string, seed uint64) {
	s.t.Helper()
	s.buyers, s.receiver = startBuyers(s.t, program, s.config, seed), startReceiver(s.t, program, s.config, seed)
	s.config.webhookURL, s.config.endpoints = s.receiver.url, map[string]string{}
	for name, p := range s.buyers {
		s.config.endpoints[name] = p.url
	}
}

// startClients starts the suppliers and the editor of a serving exchange.
func (s *Harness) startClients(target editorTarget, seed uint64) {
	s.t.Helper()
	token := s.fetchToken(ClientID, "ping", "post")
	reporters := map[string]string{}
	for i := range s.config.buyers {
		reporters[s.config.buyers[i].id] = s.fetchToken(s.config.buyers[i].id, "webhook")
	}
	s.Suppliers = startSuppliers(s.config, s.locator, token, reporters, seed)
	s.readRandom, s.readTally = rand.New(rand.NewPCG(seed, 1<<34)), Tally{}
	s.t.Cleanup(s.Suppliers.Stop)
	s.AdminEditor = startAdminEditor(s.t, target, seed)
}

// toppedUpBuyer is the buyer that receives the top-ups.
const toppedUpBuyer = "rec_beta"

// TopUp adds a new, unique amount to the account of toppedUpBuyer.
func (s *Harness) TopUp() {
	s.topUpCount++
	amount := market.Money(s.topUpCount)
	s.requestAction(operatorAction{"top-up of", amount.String()}, "/admin/v1/buyers/"+toppedUpBuyer+"/funds", fmt.Sprintf(`{"amount":%v,"note":"top-up %d"}`, amount, s.topUpCount))
}

// WriteNextConfig writes the next revision of the configuration. A reload activates it.
func (s *Harness) WriteNextConfig() []byte {
	s.t.Helper()
	s.config.revision++
	document := s.config.document(s.config.revision)
	s.Configure(document)
	return document
}

// openDeliveries returns the leads with an unknown delivery, and the number of all open ones.
func (s *Harness) openDeliveries() (unknown []string, total int) {
	s.t.Helper()
	var all openList
	s.AdminGet("/admin/v1/deliveries", &all)
	for _, d := range all.Deliveries {
		if d.State == "unknown" {
			unknown = append(unknown, d.Lead)
		}
	}
	return unknown, all.Total
}

// CollectEvidence reads all sources in the order that Evidence needs.
func (s *Harness) CollectEvidence() *Evidence {
	s.t.Helper()
	p := &Evidence{config: s.config, idle: s.Suppliers.IsIdle() && s.Metric("pingpost_open_deliveries") == "0"}
	p.acknowledged, p.pauses = slices.Clone(s.acknowledged), slices.Clone(s.pauses)
	p.statusReports, _ = s.Suppliers.statusReports.answersAndViolations()
	answers, _ := s.Suppliers.answers.answersAndViolations()
	p.splitAnswersByKind(answers, s.Suppliers.answers.expiredPostKeys())
	p.buyerLeadsBefore, _ = s.buyers.readAccounts(s.t)
	p.webhookEvents, p.webhookStats = s.readWebhookEvents()
	p.webhookStats.BadSignatures -= s.lateSignatures
	p.lookups = s.Suppliers.takeLookups()
	s.readAdminSources(p)
	s.readTally.addAdminReads(p)
	p.readTally = s.readTally
	p.reports = s.readReports(p.idle)
	dump := s.DumpLog()
	p.buyerLeadsAfter, p.buyerStats = s.buyers.readAccounts(s.t)
	p.model = readLogModel(s.config, dump)
	if p.idle {
		p.accounts = map[string]buyerAccount{}
		for i := range s.config.buyers {
			var booked buyerAccount
			s.AdminGet("/admin/v1/buyers/"+s.config.buyers[i].id+"/funds", &booked)
			p.accounts[s.config.buyers[i].id] = booked
		}
	}
	return p
}

// maxShown is the number of findings that one audit reports in full.
const maxShown = 20

// Audit reports all findings of the evidence and all violations seen since the last audit.
func (s *Harness) Audit(p *Evidence) {
	s.t.Helper()
	found := p.runChecks()
	_, answered := s.Suppliers.answers.answersAndViolations()
	_, reports := s.Suppliers.statusReports.answersAndViolations()
	found = slices.Concat(found, answered, reports, s.ErrorLines())
	if !startsWithLines(s.lastDump, p.model.dumpLines) {
		found = append(found, "entries of the last audited log are missing or changed")
	}
	s.lastDump = p.model.dumpLines
	for _, text := range found[:min(len(found), maxShown)] {
		s.t.Error(text)
	}
	if len(found) > maxShown {
		s.t.Errorf("%d more findings", len(found)-maxShown)
	}
}

// CheckRestart stops the exchange in order and starts it again from its snapshot. The state
// must be unchanged.
func (s *Harness) CheckRestart(random *rand.Rand) {
	s.t.Helper()
	before := s.ReadStateHash()
	s.Stop()
	s.VerifyLog()
	s.CheckReplayHash(before)
	s.Start()
	if after := s.ReadStateHash(); after != before {
		s.t.Errorf("restart: the state was %+v before and is %+v after", before, after)
	}
	s.Suppliers.RepeatRequests(200, random)
	s.AwaitAnswers(random)
	s.Audit(s.CollectEvidence())
	s.Stop()
}

// batchPercent of the status reports are sent in a batch.
const batchPercent = 50

// SendStatusReports schedules status reports on some leads, each from the lead's buyer. Each
// report advances the lead one or more steps; half are sent in batches, and some are returns.
func (s *Harness) SendStatusReports(p *Evidence, leads int, random *rand.Rand) {
	batches := map[string][]statusReport{}
	for _, e := range s.reportableLeads(p, leads, random) {
		further := e.allowedStatuses()
		r := statusReport{Lead: e.id, Status: further[random.IntN(len(further))]}
		if r.Status == "returned" {
			r.Reason = "wrong number"
		}
		if random.IntN(100) < batchPercent {
			batches[e.buyer] = append(batches[e.buyer], r)
			continue
		}
		s.sendStatusReport(e.buyer, reportPath(e.id), Object{"status": r.Status, "reason": r.Reason})
	}
	for _, buyer := range slices.Sorted(maps.Keys(batches)) {
		s.sendStatusReport(buyer, pathBatch, Object{"changes": batches[buyer]})
	}
}

func (s *Harness) sendStatusReport(buyer, path string, body Object) {
	s.statusReportCount++
	if body["reason"] == "" {
		delete(body, "reason")
	}
	o := &clientRequest{path: path, token: s.Suppliers.buyerTokens[buyer], key: fmt.Sprintf("report-%d", s.statusReportCount), mayConflict: true, body: Encode(body)}
	s.Suppliers.schedule(func(ctx context.Context, client *sellerClient) bool {
		return s.Suppliers.sendAndRecord(ctx, client, &s.Suppliers.statusReports, o)
	})
}

// reportableLeads returns random leads that their buyers have and that may still change. A lead
// with delivery must be in its buyer's own list.
func (s *Harness) reportableLeads(p *Evidence, limit int, random *rand.Rand) []*modelLead {
	holders := endpointsByLead(p.buyerLeadsBefore)
	var all []*modelLead
	for _, id := range slices.Sorted(maps.Keys(p.model.leads)) {
		e := p.model.leads[id]
		if (e.state == stateRecorded || e.state == stateDelivered && holders[id] != "") && len(e.allowedStatuses()) > 0 {
			all = append(all, e)
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(limit, len(all))]
}

// DrainWebhooks delivers all pending events. A failed event would be retried after one and then
// six minutes. To save that time, it disables and enables the webhook, which turns pending
// events into dead letters, and resends these.
func (s *Harness) DrainWebhooks() {
	s.t.Helper()
	pending := func() (n int) {
		var standing struct{ Pending, Dead int }
		s.AdminGet(webhookPath, &standing)
		return standing.Pending + standing.Dead
	}
	must := func(word string) {
		if !s.ControlWebhook(word) {
			s.t.Fatalf("the exchange did not acknowledge the webhook action %s", word)
		}
	}
	Await(s.t, "every event is delivered", func() bool {
		if pending() == 0 {
			return true
		}
		must("off")
		must("on")
		must("resend")
		left := pending()
		Await(s.t, "the resent webhooks are attempted", func() bool {
			now := pending()
			stuck := now == left
			left = now
			return now == 0 || stuck
		})
		return false
	})
}
