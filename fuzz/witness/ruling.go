package witness

// ruling is the operator's word on a lead: confirmed, released or resent.
type ruling struct{ lead, settlement string }

// decreed: every word of the operator that was acknowledged is in the log.
func (p *Picture) decreed() (found findings) {
	for _, r := range p.ruled {
		if !p.book.ruled[r] {
			found.add("that lead %s was %s by the operator was acknowledged and is lost", r.lead, r.settlement)
		}
	}
	return found
}
