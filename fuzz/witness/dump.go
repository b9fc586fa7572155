//go:build unix

package witness

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Run runs a pingpost command to its end and returns its output.
func (x *Exchange) Run(args ...string) string {
	x.t.Helper()
	var out, complaints bytes.Buffer
	cmd := exec.Command(x.program, args...)
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		x.t.Errorf("pingpost %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), complaints.String())
	}
	return out.String()
}

// DumpLog returns the log as text.
func (x *Exchange) DumpLog() string { return x.Run("log", "dump", x.DataDir()) }

// VerifyLog checks every byte of the log and the snapshots.
func (x *Exchange) VerifyLog() {
	x.t.Helper()
	if report := x.Run("log", "verify", x.DataDir()); !strings.HasSuffix(report, "good\n") {
		x.t.Errorf("pingpost log verify failed:\n%s", report)
	}
}

// CheckReplayHash checks that a replay of the log up to a position has the live exchange's hash
// at that position.
func (x *Exchange) CheckReplayHash(live StateHash) {
	x.t.Helper()
	var replayed StateHash
	text := x.Run("log", "hash", x.DataDir(), "--at", strconv.FormatUint(live.Seq, 10))
	if err := json.Unmarshal([]byte(text), &replayed); err != nil || replayed != live {
		x.t.Errorf("replay: the live exchange had the state %+v, the replayed log has %s", live, text)
	}
}

// startsWithLines reports whether now begins with all of before.
func startsWithLines(before, now []string) bool {
	return len(now) >= len(before) && slices.Equal(now[:len(before)], before)
}

// Number of admin reads for one audit.
const (
	readLeads    = 12 // explanations, and lookups as the supplier or a buyer
	readAuctions = 4
	readBuyers   = 3 // statements of buyers; the supplier's comes in addition
)

// readAdminSources reads explanations, statements, lookups and lists, and records the log's
// position before them. When idle it reads every statement.
func (s *Harness) readAdminSources(p *Evidence) {
	s.t.Helper()
	random := s.readRandom
	p.sinceSeq, p.hasAdminReads = s.ReadStateHash().Seq, true
	s.readRandomLeads(p, random)
	for range min(readAuctions, len(p.pings)) {
		t := p.pings[random.IntN(len(p.pings))]
		one := &answerExplanation{request: t}
		one.text = s.AdminGet("/admin/v1/explain?id="+auctionIDFromKey(t.key)+"&supplier="+SupplierID, nil)
		p.explanations = append(p.explanations, one)
	}
	s.AdminGet("/admin/v1/deliveries", &p.openDeliveries)
	s.AdminGet("/admin/v1/returns?limit=500", &p.pendingReturns)
	s.readStatement(p, "supplier="+SupplierID)
	buyers := random.Perm(len(s.config.buyers))
	if !p.idle {
		buyers = buyers[:min(readBuyers, len(buyers))]
	}
	for _, i := range buyers {
		s.readStatement(p, "buyer="+s.config.buyers[i].id)
	}
}

func (s *Harness) readStatement(p *Evidence, partyQuery string) {
	s.t.Helper()
	one := &accountStatement{}
	s.AdminGet("/admin/v1/statement?"+partyQuery+"&from=2020-01-01&to=2190-01-01", one)
	p.statements = append(p.statements, one)
}

func (s *Harness) readRandomLeads(p *Evidence, random *rand.Rand) {
	s.t.Helper()
	client := s.Suppliers.newClient(rand.New(rand.NewPCG(random.Uint64(), 0)))
	defer client.client.CloseIdleConnections()
	for range min(readLeads, len(p.answers)) {
		t := p.answers[random.IntN(len(p.answers))]
		one := s.Suppliers.newLookup(t, random)
		if one == nil {
			continue
		}
		one.reportCount = 0 // sinceSeq is a tighter bound
		one.sinceSeq = p.sinceSeq
		var ok bool
		if one.Response, ok = client.send(s.t.Context(), one.clientRequest); ok {
			p.lookups = append(p.lookups, one)
		}
		answered := &answerExplanation{request: t}
		answered.text = s.AdminGet("/admin/v1/explain/"+t.parsed.Data.ID, nil)
		p.explanations = append(p.explanations, answered)
	}
}
