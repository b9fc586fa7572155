package event

// FieldSellerLeadID is the name of the field with the seller's own id of a lead, which a
// seller's post contains.
const FieldSellerLeadID = "lead_uuid"

// SellerLeadID returns a copy of the seller's own id of the lead, or "" without one.
func (l *LeadDecided) SellerLeadID() string {
	for i := range l.Fields {
		if l.Fields[i].Name == FieldSellerLeadID {
			return string(l.Fields[i].Text)
		}
	}
	return ""
}

// AuctionIDText returns the exchange's id of the lead's auction, or "" without an auction.
func (l *LeadDecided) AuctionIDText() string {
	id := l.Auction.ID
	if id.IsZero() {
		id = l.Post.Auction
	}
	if id.IsZero() {
		return ""
	}
	return id.String()
}
