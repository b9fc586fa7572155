package ceiling

import "strconv"

// Ping is the body of a seller's ping.
type Ping struct {
	Auction     string  `json:"auction_id"`
	Vertical    string  `json:"vertical"`
	SubVertical string  `json:"sub_vertical"`
	State       string  `json:"state"`
	Zip3        string  `json:"zip3"`
	Insured     bool    `json:"currently_insured"`
	Vehicles    int     `json:"vehicle_count"`
	AgeBand     string  `json:"driver_age_band"`
	Quality     float64 `json:"ai_quality_score"`
	Source      string  `json:"source"`
	Consent     *bool   `json:"tcpa_consent"`
	ConsentURL  string  `json:"consent_cert_url"`
	ExpiresAt   string  `json:"expires_at"`
}

// complete reports whether the required members are present.
func (p *Ping) complete() bool {
	return p.Auction != "" && p.Vertical != "" && p.State != "" && p.Consent != nil
}

// Answer is a buyer's answer to a ping.
type Answer struct {
	Auction string   `json:"auction_id"`
	Bid     *Bid     `json:"bid"`
	Passed  []string `json:"buyer_filters_passed"`
	Reason  string   `json:"reject_reason"`
}

// Bid is a buyer's bid. A ceiling may compare floats.
type Bid struct {
	Amount     float64 `json:"amount"`
	Currency   string  `json:"currency"`
	Token      string  `json:"bid_token"`
	ValidUntil string  `json:"valid_until"`
}

// best returns the highest bid, the first of equal ones, or nil.
func (b *ballot) best() *Bid {
	var best *Bid
	for i := range b.seats {
		s := &b.seats[i]
		if s.bids && (best == nil || s.answer.Bid.Amount > best.Amount) {
			best = s.answer.Bid
		}
	}
	return best
}

// appendAnswer appends the answer to the seller. The texts need no escaping, because the
// reference buyers write none that does.
func (b *ballot) appendAnswer(dst []byte) []byte {
	dst = append(append(dst, `{"auction_id":"`...), b.ping.Auction...)
	bid := b.best()
	if bid == nil {
		return append(dst, `","bid":null,"reject_reason":"no_bid","reject_detail":"no buyer has bid"}`...)
	}
	dst = strconv.AppendFloat(append(dst, `","bid":{"amount":`...), bid.Amount, 'f', -1, 64)
	dst = append(append(dst, `,"currency":"`...), bid.Currency...)
	dst = append(append(dst, `","bid_token":"`...), bid.Token...)
	dst = append(append(dst, `","valid_until":"`...), bid.ValidUntil...)
	return append(dst, `"}}`...)
}
