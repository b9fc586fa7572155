package public

import (
	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// postLead is the parsed body of a post, with the members of the lead in one list.
type postLead struct {
	lead, address, tcpa strictjson.Object
	members             []market.Member
	faults              []market.FieldError
}

func (p *postLead) release() {
	p.lead.Release()
	p.address.Release()
	p.tcpa.Release()
	clear(p.members)
	p.members, p.faults = p.members[:0], nil
}

// parseAndFlatten parses the objects of a body and lists the members of the lead, then those of its
// address, then those of its tcpa. A member that should be an object and is not becomes a
// field error. A missing object has no members, which makes its fields missing.
func (p *postLead) parseAndFlatten(body *strictjson.Object) {
	p.release()
	p.parseInnerObject(body, "lead", "lead", &p.lead)
	p.parseInnerObject(&p.lead, "address", "lead.address", &p.address)
	p.parseInnerObject(&p.lead, "tcpa", "lead.tcpa", &p.tcpa)
	for _, m := range p.lead.Members() {
		switch string(m.Name) {
		case "lead_uuid", "address", "tcpa":
		default:
			p.members = append(p.members, m)
		}
	}
	p.addInnerMembers(&p.address, "lead.address.")
	p.addInnerMembers(&p.tcpa, "lead.tcpa.")
}

func (p *postLead) parseInnerObject(outer *strictjson.Object, name, path string, inner *strictjson.Object) {
	m, ok := outer.Lookup(name)
	if !outer.ParseMember(m, inner) && ok && m.Kind != market.JSONNull {
		p.faults = append(p.faults, market.FieldError{Field: path, Code: errcode.FieldWrongType, Expected: "an object"})
	}
}

// addInnerMembers adds the members of an inner object to the list. A member that belongs into
// this object takes precedence. A member that belongs elsewhere is ignored: the phone in a
// tcpa is the one with the consent, not the lead's. So is a member that the lead has
// itself.
func (p *postLead) addInnerMembers(inner *strictjson.Object, at string) {
	for _, m := range inner.Members() {
		name := string(m.Name)
		switch path := market.PostPath(name); {
		case path == at+name:
		case path != "lead."+name || belongsToLeadOnly(name):
			continue
		default:
			if _, twice := p.lead.Lookup(name); twice {
				continue
			}
		}
		p.members = append(p.members, m)
	}
}

// belongsToLeadOnly reports whether only the lead object itself may have the member.
func belongsToLeadOnly(name string) bool {
	switch name {
	case "lead_uuid", "first_name", "last_name", "email", "phone", "source", "address", "tcpa":
		return true
	}
	return false
}
