package public

import (
	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// parsedPostBody is the parsed body of a post. members lists the fields of the lead and of its inner
// objects address and tcpa.
type parsedPostBody struct {
	lead, address, tcpa strictjson.Object
	members             []market.JSONMember
	faults              []market.FieldError
}

func (p *parsedPostBody) release() {
	p.lead.Release()
	p.address.Release()
	p.tcpa.Release()
	clear(p.members)
	p.members, p.faults = p.members[:0], nil
}

// parseAndFlatten parses the objects in a post's body, and lists the lead's members, followed
// by those of its address and tcpa. A member that should be an object but is not becomes a
// field error. A missing object counts as empty.
func (p *parsedPostBody) parseAndFlatten(body *strictjson.Object) {
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

func (p *parsedPostBody) parseInnerObject(outer *strictjson.Object, name, path string, inner *strictjson.Object) {
	m, ok := outer.Lookup(name)
	if !outer.ParseMember(m, inner) && ok && m.Kind != market.JSONNull {
		p.faults = append(p.faults, market.FieldError{Field: path, Code: errcode.FieldWrongType, Expected: "an object"})
	}
}

// addInnerMembers adds the members of the object inner (address or tcpa) to the list. innerPath is the
// path of inner.
//
// It skips members that belong elsewhere. For example, the phone number in tcpa is the one with
// the consent, and not the lead's. A member that may be in either place counts only if the lead
// itself does not have it.
func (p *parsedPostBody) addInnerMembers(inner *strictjson.Object, innerPath string) {
	for _, m := range inner.Members() {
		name := string(m.Name)
		switch path := market.PathInPost(name); {
		case path == innerPath+name:
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

// belongsToLeadOnly reports whether a member may be only in the lead object itself, and not in
// its address or tcpa.
func belongsToLeadOnly(name string) bool {
	switch name {
	case "lead_uuid", "first_name", "last_name", "email", "phone", "source", "address", "tcpa":
		return true
	}
	return false
}
