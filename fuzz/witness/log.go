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

// Run runs one of the program's commands to its end.
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

// Dump is the log as text.
func (x *Exchange) Dump() string { return x.Run("log", "dump", x.Data()) }

// Verify has every byte of the log, and of the snapshots, checked.
func (x *Exchange) Verify() {
	x.t.Helper()
	if report := x.Run("log", "verify", x.Data()); !strings.HasSuffix(report, "good\n") {
		x.t.Errorf("the log is not good:\n%s", report)
	}
}

// Replays sees that a replay of the log up to a position comes to the hash that
// the live exchange had there.
func (x *Exchange) Replays(live Position) {
	x.t.Helper()
	var replayed Position
	text := x.Run("log", "hash", x.Data(), "--at", strconv.FormatUint(live.Seq, 10))
	if err := json.Unmarshal([]byte(text), &replayed); err != nil || replayed != live {
		x.t.Errorf("the live state is %+v; replayed, the log says %s", live, text)
	}
}

// grew sees that a log only ever gets longer.
func grew(before, now []string) bool {
	return len(now) >= len(before) && slices.Equal(now[:len(before)], before)
}

// How much an operator reads for one picture.
const (
	readLeads    = 12 // that are explained, and looked at as their supplier and their buyer
	readAuctions = 4
	readBuyers   = 3 // statements, beside the supplier's
)

// read has the operator, suppliers and buyers read what the exchange says of itself, and
// notes where the log stood before. At rest every statement is read.
func (s *Scene) read(p *Picture) {
	s.t.Helper()
	chance := s.reader
	p.since, p.listed = s.Hash().Seq, new(listed)
	s.readLeads(p, chance)
	for range min(readAuctions, len(p.pings)) {
		t := p.pings[chance.IntN(len(p.pings))]
		one := &explanation{of: t}
		one.text = s.Ask("/admin/v1/explain?id="+offerOf(t.key)+"&supplier="+supplier, nil)
		p.explained = append(p.explained, one)
	}
	s.Ask("/admin/v1/deliveries", &p.listed.deliveries)
	s.Ask("/admin/v1/returns?limit=500", &p.listed.returns)
	s.readStatement(p, "supplier="+supplier)
	buyers := chance.Perm(len(s.terms.buyers))
	if !p.atRest {
		buyers = buyers[:min(readBuyers, len(buyers))]
	}
	for _, i := range buyers {
		s.readStatement(p, "buyer="+s.terms.buyers[i].id)
	}
}

func (s *Scene) readStatement(p *Picture, whose string) {
	s.t.Helper()
	one := &statement{}
	s.Ask("/admin/v1/statement?"+whose+"&from=2020-01-01&to=2190-01-01", one)
	p.statements = append(p.statements, one)
}

func (s *Scene) readLeads(p *Picture, chance *rand.Rand) {
	s.t.Helper()
	call := s.Crowd.caller(rand.New(rand.NewPCG(chance.Uint64(), 0)))
	defer call.client.CloseIdleConnections()
	for range min(readLeads, len(p.answers)) {
		t := p.answers[chance.IntN(len(p.answers))]
		one := s.Crowd.lookAt(t, chance)
		if one == nil {
			continue
		}
		one.reports = 0 // where the log stood says more
		one.since = p.since
		var ok bool
		if one.Answer, ok = call.send(s.t.Context(), one.order); ok {
			p.looks = append(p.looks, one)
		}
		told := &explanation{of: t}
		told.text = s.Ask("/admin/v1/explain/"+t.said.Data.ID, nil)
		p.explained = append(p.explained, told)
	}
}
