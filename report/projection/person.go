package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// ContactHash is a keyed hash of a phone number or an e-mail address of a lead's person.
type ContactHash [16]byte

// PersonRow says that a lead has a phone number or an e-mail address with this hash.
type PersonRow struct {
	Hash ContactHash
	Lead market.LeadID
}

// addPersons adds the rows by which a search finds the lead's person. A later erasure in the same
// batch removes them again, because the file's rows of ErasedPersons are deleted last.
func (b *ChangeBatch) addPersons(ev *event.LeadDecided) {
	if b.HashContact == nil {
		return
	}
	for _, hash := range b.HashContact(ev) {
		b.Persons = append(b.Persons, PersonRow{hash, ev.Lead})
	}
}
