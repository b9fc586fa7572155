package event

// FieldSellerLeadID is the name of the field in which a post carries the seller's own id of the
// lead.
const FieldSellerLeadID = "lead_uuid"

// SellerLeadID returns the id that the seller gave to the lead, or "" if the lead has none.
func (l *LeadDecided) SellerLeadID() (idOrEmpty string) {
	for i := range l.Fields {
		if l.Fields[i].Name == FieldSellerLeadID {
			return string(l.Fields[i].Text)
		}
	}
	return ""
}

// AuctionIDText returns the text of the id of the auction in which the lead was decided or sold.
// It is "" if there was no auction.
func (l *LeadDecided) AuctionIDText() (idOrEmpty string) {
	id := l.Auction.ID
	if id.IsZero() {
		id = l.Post.Auction
	}
	if id.IsZero() {
		return ""
	}
	return id.String()
}
