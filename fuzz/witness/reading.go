//go:build unix

package witness

import (
	"math/rand/v2"
)

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
