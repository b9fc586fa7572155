package public

import (
	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// parsedPostLead is the parsed body of a post. members lists the fields of the lead and of its inner
// objects address and tcpa.
type parsedPostLead struct {
	lead, address, tcpa strictjson.Object
	members             []market.JSONMember
	faults              []market.FieldError
}

// clearForReuse empties p and drops its references to the parsed body, but keeps its memory for the
// next body.
func (p *parsedPostLead) clearForReuse() {
	p.lead.ClearForReuse()
	p.address.ClearForReuse()
	p.tcpa.ClearForReuse()
	clear(p.members)
	p.members, p.faults = p.members[:0], nil
}

// parseAndFlatten parses the objects in a post's body, and lists the lead's members, followed
// by those of its address and tcpa. A member that should be an object but is not becomes a
// field error. A missing or null object counts as empty.
func (p *parsedPostLead) parseAndFlatten(body *strictjson.Object) {
	p.clearForReuse()
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
	p.addAllowedInnerObjectMembers(&p.address, "lead.address.")
	p.addAllowedInnerObjectMembers(&p.tcpa, "lead.tcpa.")
}

func (p *parsedPostLead) parseInnerObject(outer *strictjson.Object, name, fieldPath string, inner *strictjson.Object) {
	m, ok := outer.Lookup(name)
	if !outer.ParseMember(m, inner) && ok && m.Kind != market.JSONNull {
		p.faults = append(p.faults, market.FieldError{Field: fieldPath, Code: errcode.FieldWrongType, Expected: "an object"})
	}
}

// addAllowedInnerObjectMembers adds the members of the inner object address or tcpa to the list.
// innerPath is the object's path.
//
// It skips members that belong elsewhere, without an error. For example, the phone number in tcpa
// is the one with the consent, and not the lead's. A member that may be in either place counts only
// if the lead itself does not have it.
func (p *parsedPostLead) addAllowedInnerObjectMembers(inner *strictjson.Object, innerPath string) {
	for _, m := range inner.Members() {
		name := string(m.Name)
		switch path := market.FieldPathInSupplierPost(name); {
		case path == innerPath+name:
		case path != "lead."+name || isForbiddenInAddressAndTCPA(name):
			continue
		default:
			if _, twice := p.lead.Lookup(name); twice {
				continue
			}
		}
		p.members = append(p.members, m)
	}
}

// isForbiddenInAddressAndTCPA reports whether a member may be only in the lead object itself, and not in
// its address or tcpa.
func isForbiddenInAddressAndTCPA(memberName string) bool {
	switch memberName {
	case "lead_uuid", "first_name", "last_name", "email", "phone", "source", "address", "tcpa":
		return true
	}
	return false
}
