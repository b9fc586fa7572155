package refbuyer

import (
	"fmt"
	"strings"

	"pingpost/engine/market"
)

// Pricing is the price of a lead by state. The zero value is 0 everywhere.
type Pricing struct {
	in        map[market.USState]span
	elsewhere span
}

// span is a range of prices in steps of a cent. Both ends may be equal.
type span struct{ least, most market.Money }

const cent market.Money = 10_000

// Fixed returns one price for every lead.
func Fixed(price market.Money) Pricing { return Pricing{elsewhere: span{price, price}} }

// At returns the price at a quantile, from 0 up to, but not including, 1. Zero means no
// bid.
func (p Pricing) At(state market.USState, quantile float64) market.Money {
	s, named := p.in[state]
	if !named {
		s = p.elsewhere
	}
	steps := float64((s.most-s.least)/cent + 1)
	return s.least + market.Money(quantile*steps)*cent
}

const pricingForms = "give an amount such as 12.50, a range such as 8-20, or either by state, such as CA=20,TX=10-15,*=9"

// ParsePricing parses an amount, a range of evenly spread prices, or a list of either by
// state, where * is every other state. A state without a price gets no bid.
func ParsePricing(text string) (Pricing, error) {
	if !strings.Contains(text, "=") {
		everywhere, err := parseSpan(text)
		if err != nil {
			return Pricing{}, fmt.Errorf("bid %q: %w", text, err)
		}
		return Pricing{elsewhere: everywhere}, nil
	}
	p := Pricing{in: map[market.USState]span{}}
	star := false
	for item := range strings.SplitSeq(text, ",") {
		code, price, _ := strings.Cut(item, "=")
		s, err := parseSpan(price)
		if err != nil {
			return Pricing{}, fmt.Errorf("bid %q: %q: %w", text, item, err)
		}
		state := market.ParseUSStateCode([]byte(code))
		_, twice := p.in[state]
		switch {
		case twice || code == "*" && star:
			return Pricing{}, fmt.Errorf("bid %q: %s is listed twice", text, code)
		case code == "*":
			p.elsewhere, star = s, true
		case state == market.NoState:
			return Pricing{}, fmt.Errorf("bid %q: %q is not a state: give two capital letters such as CA, or * for every other", text, code)
		default:
			p.in[state] = s
		}
	}
	return p, nil
}

func parseSpan(text string) (span, error) {
	least, most, err := parseRange(text, parsePrice, "the smaller amount comes first")
	return span{least, most}, err
}

func parsePrice(text string) (market.Money, error) {
	price, err := market.ParseMoney([]byte(text))
	if err != nil {
		return 0, fmt.Errorf("%w; %s", err, pricingForms)
	}
	return price, nil
}
