package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pingpost/engine/market"
)

// weeklyHours are hours on one day of the week, or on each day, by the clocks of a zone.
type weeklyHours struct {
	zone     *time.Location
	day      string // Mon; Mon-Sun for each day
	from, to int    // hours, to at most 24
}

func (h weeklyHours) String() string {
	return fmt.Sprintf("%s %s %02d:00-%02d:00", h.zone, h.day, h.from, h.to)
}

func (h weeklyHours) contain(at time.Time) bool {
	local := at.In(h.zone)
	return (h.day == "Mon-Sun" || h.day == local.Format("Mon")) && h.from <= local.Hour() && local.Hour() < h.to
}

// modifiedTerms is the naive definition of a filter set with modifiers and caps. Amounts and factors are
// in millionths.
type modifiedTerms struct {
	buyer        string
	price        int64
	modifiers    []modelModifier
	countPerHour int64
	moneyPerDay  int64
	funds        int64 // 0: not prepaid
	sold         []pricedSale
	sumOfPrices  int64
}

type modelModifier struct {
	weeklyHours
	price, caps int64
}

type pricedSale struct {
	at    time.Time
	price int64
}

// termsAt returns the price and the factor for caps in force.
func (s *modifiedTerms) termsAt(at time.Time) (price, capsFactor int64) {
	for _, m := range s.modifiers {
		if m.contain(at) {
			return s.price * m.price / 1_000_000, m.caps
		}
	}
	return s.price, 1_000_000
}

// outcomeAt returns the reason for which the filter set does not get a lead, or "".
func (s *modifiedTerms) outcomeAt(at time.Time, floor int64) string {
	price, factor := s.termsAt(at)
	var count, money int64
	for _, sale := range s.sold {
		if sale.at.Truncate(time.Hour).Equal(at.Truncate(time.Hour)) {
			count++
		}
		if sale.at.Truncate(24 * time.Hour).Equal(at.Truncate(24 * time.Hour)) {
			money += sale.price
		}
	}
	switch {
	case factor == 0, count+1 > s.countPerHour*factor/1_000_000, money+price > s.moneyPerDay*factor/1_000_000:
		return "caps_full"
	case s.funds > 0 && s.sumOfPrices+price > s.funds:
		return "insufficient_funds"
	case price < floor:
		return "below_floor"
	}
	return ""
}

// sell returns the buyer with price and payout of a lead at this time, or the reason without a sale.
func sellByModel(sets []*modifiedTerms, isOpen bool, floor int64, at time.Time) string {
	if !isOpen {
		return "outside_schedule"
	}
	rank := map[string]int{"caps_full": 1, "insufficient_funds": 2, "below_floor": 3}
	furthest := ""
	for _, s := range sets {
		outcome := s.outcomeAt(at, floor)
		if outcome == "" {
			price, _ := s.termsAt(at)
			s.sold, s.sumOfPrices = append(s.sold, pricedSale{at, price}), s.sumOfPrices+price
			return fmt.Sprintf("%s %s %s", s.buyer, market.Money(price), market.Money(price*800_001/1_000_000))
		}
		if rank[outcome] > rank[furthest] {
			furthest = outcome
		}
	}
	return furthest
}

// Leads over virtual days are sold as by a naive model that evaluates modifiers, caps, funds, floor and
// the campaign's hours for each lead alone.
func TestModifiersMatchModelOverDays(t *testing.T) {
	seeds := uint64(120)
	if testing.Short() {
		seeds = 30
	}
	results := map[string]int{}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 6))
		zones := []*time.Location{time.UTC, zone(t, "America/New_York"), zone(t, "Asia/Kathmandu")}
		draw := func() weeklyHours {
			from := random.IntN(24)
			day := []string{"Mon-Sun", "Sat", "Sun", "Mon", "Tue"}[random.IntN(5)]
			return weeklyHours{zones[random.IntN(len(zones))], day, from, from + 1 + random.IntN(24-from)}
		}
		r := marketOf(market.Waterfall, buyer{id: "blue"}, buyer{id: "gold"}, buyer{id: "red"})
		open := []weeklyHours{{time.UTC, "Mon-Sun", random.IntN(6), 20 + random.IntN(5)}}
		r.campaigns[0].schedule = open[0].String() + ", closed 2000-01-03"
		r.campaigns[0].payout, r.campaigns[0].floor = "0.800001", "6.5"
		var sets []*modifiedTerms
		for i := range r.campaigns[0].filterSets {
			s := &modifiedTerms{buyer: r.buyers[i].id, price: 8_000_000 + random.Int64N(4_000_000), countPerHour: 1 + random.Int64N(6), moneyPerDay: 50_000_000 + random.Int64N(300_000_000)}
			set := &r.campaigns[0].filterSets[i]
			if random.IntN(3) == 0 {
				s.funds = 300_000_000
				r.buyers[i].funds = "300"
			}
			for range random.IntN(4) {
				m := modelModifier{draw(), random.Int64N(2_500_000), random.Int64N(3_000_000)}
				if random.IntN(8) == 0 {
					m.caps = 0
				}
				s.modifiers = append(s.modifiers, m)
				set.modifiers = append(set.modifiers, modifier{m.String(), market.Money(m.price).String(), market.Money(m.caps).String()})
			}
			set.price = market.Money(s.price).String()
			set.caps = []string{fmt.Sprintf("hour %d", s.countPerHour), "day $" + market.Money(s.moneyPerDay).String()}
			sets = append(sets, s)
		}
		runWithExchange(t, fmt.Sprintf("seed %d", seed), r, func(t *testing.T, x *testExchange) {
			for i := range 150 {
				switch random.IntN(4) {
				case 0: // a whole hour, or just before one
					next := time.Now().Truncate(time.Hour).Add(time.Duration(1+random.IntN(3)) * time.Hour)
					time.Sleep(time.Until(next) - time.Duration(random.IntN(2)))
				case 1:
					time.Sleep(time.Duration(random.IntN(int(time.Hour))))
				}
				now := time.Now().UTC()
				isOpen := open[0].contain(now) && now.Day() != 3
				want := sellByModel(sets, isOpen, 6_500_000, now)
				if got := x.soldAt(leadRequest(i)); got != want {
					t.Fatalf("lead %d at %s: got %s, want %s; %+v", i, now, got, want, r.campaigns[0].filterSets)
				}
				results[want[:min(len(want), 4)]]++
			}
		})
	}
	for _, result := range []string{"blue", "gold", "red ", "caps", "insu", "belo", "outs"} {
		if results[result] == 0 {
			t.Errorf("no lead had the result %s: %v", result, results)
		}
	}
}
