package config

import "pingpost/engine/market"

// Funds limits what a buyer can spend. The balance is written once, when the
// buyer is first seen; later there are only top-ups.
type Funds struct {
	Balance *market.Money `json:"balance"`
	Credit  *market.Money `json:"credit"` // how far below zero the balance may go
}

func (f *Funds) fill() {
	if f == nil {
		return
	}
	f.Balance = given(f.Balance, 0)
	f.Credit = given(f.Credit, 0)
}
