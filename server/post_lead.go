package server

import (
	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// postLead is a post's body taken apart: its objects, and the lead laid flat.
type postLead struct {
	lead, address, tcpa strictjson.Object
	flat                []market.Member
	faults              []market.FieldError
}

func (p *postLead) release() {
	p.lead.Release()
	p.address.Release()
	p.tcpa.Release()
	clear(p.flat)
	p.flat, p.faults = p.flat[:0], nil
}

// open takes a body apart and lays its lead flat: its own members, then those
// of its address, then those of its tcpa. What is no object and should be is
// told in faults; what is not there has no members, and then a field is missing.
func (p *postLead) open(body *strictjson.Object) {
	p.release()
	p.within(body, "lead", "lead", &p.lead)
	p.within(&p.lead, "address", "lead.address", &p.address)
	p.within(&p.lead, "tcpa", "lead.tcpa", &p.tcpa)
	for _, m := range p.lead.Members() {
		switch string(m.Name) {
		case "lead_uuid", "address", "tcpa":
		default:
			p.flat = append(p.flat, m)
		}
	}
	p.adopt(&p.address, "lead.address.")
	p.adopt(&p.tcpa, "lead.tcpa.")
}

func (p *postLead) within(outer *strictjson.Object, name, path string, inner *strictjson.Object) {
	m, ok := outer.Lookup(name)
	if !outer.Sub(m, inner) && ok && m.Kind != market.JSONNull {
		p.faults = append(p.faults, market.FieldError{Field: path, Code: errcode.FieldWrongType, Expected: "an object"})
	}
}

// adopt lays an inner object's members beside the lead's own. Those whose place
// is there count most. One whose place is elsewhere does not count at all: the
// phone in a tcpa is the one that consent was given for, and not the lead's. Nor
// does one that the lead has itself.
func (p *postLead) adopt(inner *strictjson.Object, at string) {
	for _, m := range inner.Members() {
		name := string(m.Name)
		switch path := market.PostPath(name); {
		case path == at+name:
		case path != "lead."+name || isPersonal(name):
			continue
		default:
			if _, twice := p.lead.Lookup(name); twice {
				continue
			}
		}
		p.flat = append(p.flat, m)
	}
}

// isPersonal tells whether the name is one that only the lead itself bears.
func isPersonal(name string) bool {
	switch name {
	case "lead_uuid", "first_name", "last_name", "email", "phone", "source", "address", "tcpa":
		return true
	}
	return false
}
