package witness

import "pingpost/engine/market"

// asked is how a return stands that waits for the operator, or has waited.
type asked string

const (
	never    asked = ""
	waiting  asked = "waiting"
	approved asked = "approved"
	refused  asked = "refused"
)

// further is what a lead may still become: nothing while a return of it waits, and no
// return once one was refused.
func (e *entry) further() []string {
	all := after(e.became)
	switch {
	case e.asked == waiting:
		return nil
	case e.asked == refused && len(all) > 0:
		return all[:len(all)-1]
	}
	return all
}

func (b *book) manual(e *entry) bool {
	c := b.terms.campaign(e.campaign)
	return c != nil && c.manual
}

// decreeReturn enters the operator's word on a return that waits.
func (b *book) decreeReturn(e *entry, approve bool, credit, reverse market.Money) {
	if e.asked != waiting {
		b.breach("the operator decides a return of lead %s, of which none waits (%s)", e.id, e.asked)
		return
	}
	if e.asked = refused; approve {
		e.asked, e.became = approved, append(e.became, "returned")
		b.back(e, credit, reverse)
	} else if credit != 0 || reverse != 0 {
		b.breach("the return of lead %s is refused, and %v and %v are given back", e.id, credit, reverse)
	}
	b.ruled[ruling{e.id, "return " + string(e.asked)}] = true
}
