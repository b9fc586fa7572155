package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine"
	"pingpost/engine/market"
)

// paper is what a clerk would note of a lead after its sale, on a card of its own.
// Whatever can be asked of it is answered by turning over cards, without a look at
// how the engine comes to it.
type paper struct {
	answer  engine.Answer
	buyer   string
	sold    time.Time
	status  string // the last that was reported; empty: none
	waits   bool
	refused bool
}

// conditions are a campaign's, in the clerk's words.
type conditions struct {
	days    int // the window
	byHand  bool
	percent int // of a month
	reason  string
}

func (c conditions) rule() market.ReturnRule {
	rule := market.ReturnRule{Window: time.Duration(c.days) * day, Manual: c.byHand, MaxShare: market.PriceShare(c.percent * 10_000), ReversePayout: true, RestoreCaps: true}
	if c.reason != "" {
		rule.Reasons = map[string]struct{}{c.reason: {}}
	}
	return rule
}

type clerk struct {
	cards []*paper
	terms conditions
}

// back counts the buyer's leads of the month in which this one was sold, and how
// many of them came back or are asked back.
func (c *clerk) back(of *paper) (back, sold int) {
	for _, card := range c.cards {
		if card.buyer == of.buyer && card.sold.Year() == of.sold.Year() && card.sold.Month() == of.sold.Month() {
			sold++
			if card.waits || card.status == "returned" {
				back++
			}
		}
	}
	return back, sold
}

// hears is what a report comes to, and what is on the card then.
func (c *clerk) hears(card *paper, w word, now time.Time) string {
	steps := "contacted qualified sold returned"
	stands := card.status
	if stands == "" {
		stands = "ACCEPTED"
	}
	again := w.status == card.status || card.waits && w.status == "returned"
	back, sold := c.back(card)
	switch {
	case w.buyer != card.buyer:
		return "not_found"
	case w.status == "returned" && !again && c.terms.reason != "" && c.terms.reason != w.reason:
		return "invalid_payload reason:not_allowed_value"
	case w.status == card.status:
		return stands
	case again:
		return stands + " waiting"
	case card.waits:
		return "no: waits"
	case card.status != "" && strings.Index(steps, w.status) < strings.Index(steps, card.status):
		return "no: further"
	case w.status == "returned" && card.refused:
		return "no: refused"
	case w.status == "returned" && !now.Before(card.sold.Add(time.Duration(c.terms.days)*day)):
		return "no: late"
	case w.status == "returned" && c.terms.percent < 100 && (back+1)*100 > c.terms.percent*sold:
		return "no: share"
	case w.status == "returned" && c.terms.byHand:
		card.waits = true
		return stands + " waiting"
	}
	card.status = w.status
	return w.status
}

// decides is an operator's word.
func (c *clerk) decides(card *paper, approve bool) string {
	if !card.waits {
		return "conflict"
	}
	card.waits = false
	if approve {
		card.status = "returned"
	} else {
		card.refused = true
	}
	return "ok"
}

// Whatever is reported, one by one and in batches, under terms that change, with an
// operator who decides, over months and restarts: each answer is the clerk's, and so
// is the money.
func TestReportsAgainstTheClerk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Uint64(), 20, 150).Draw(rt, "steps")
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			d := &desk{t: t}
			d.open()
			for i, step := range steps {
				if wrong == "" {
					d.what, d.dice = fmt.Sprint("step ", i), step+uint64(i)
					d.step()
					wrong = d.wrong
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// desk is where the clerk and the exchange are asked the same.
type desk struct {
	clerk
	t      *testing.T
	x      *exchange
	dice   uint64 // the chance that a step goes on with
	number int
	what   string
	wrong  string // the first difference
}

// open begins an exchange, with no cards on the desk.
func (d *desk) open() {
	d.cards, d.terms = nil, conditions{days: 14, percent: 100}
	d.x = begin(d.t, d.market())
}

func (d *desk) market() rig {
	r := bought(d.terms.rule())
	r.buyers[0].funds, r.buyers[1].funds = "", ""
	r.buyers[0].caps = []string{"month 12"}
	return r
}

// roll takes one of n chances. Rapid draws small numbers more often than others, so
// they are scattered.
func (d *desk) roll(n int) int {
	d.dice = (d.dice ^ d.dice>>29) * 0x9e3779b97f4a7c15
	return int(d.dice >> 33 % uint64(n))
}

func (d *desk) expect(got, want string) {
	if got != want && d.wrong == "" {
		d.wrong = fmt.Sprintf("%s: %s, the clerk says %s", d.what, got, want)
	}
}

func (d *desk) step() {
	switch act := d.roll(16); {
	case act < 4 || len(d.cards) == 0:
		d.sell()
	case act < 9:
		d.report()
	case act < 11:
		d.reportMany()
	case act < 13:
		card, approve := d.cards[d.roll(len(d.cards))], d.roll(2) == 0
		if waits := slices.IndexFunc(d.cards, func(c *paper) bool { return c.waits }); waits >= 0 && d.roll(4) > 0 {
			card = d.cards[waits]
		}
		d.expect(decided(d.x.engine.By("").DecideReturn(card.answer.Lead, approve, "")), d.decides(card, approve))
	case act == 13:
		d.terms = conditions{
			days: []int{0, 7, 14, 40}[d.roll(4)], byHand: d.roll(2) == 0,
			percent: []int{0, 20, 50, 100}[d.roll(4)], reason: []string{"", "wrong number"}[d.roll(2)],
		}
		d.x.configure(d.market())
	case act == 14:
		time.Sleep([]time.Duration{time.Hour, day, 7 * day}[d.roll(3)])
		if time.Since(d.cards[0].sold) > 30*day { // before memory lets go of it
			d.open()
		}
	default:
		d.x.crash()
	}
	d.count()
}

func (d *desk) sell() {
	d.number++
	answer, err := d.x.send(person(d.number))
	if err != nil || !answer.Accepted {
		d.expect(said(answer, err), "a sale")
		return
	}
	d.cards = append(d.cards, &paper{answer: answer, buyer: answer.Buyer, sold: time.Now().UTC()})
}

// word is a report on one of the cards, mostly by its buyer.
func (d *desk) word() (*paper, word) {
	card := d.cards[d.roll(len(d.cards))]
	w := saying(card.answer, []string{"contacted", "qualified", "sold", "returned", "returned"}[d.roll(5)])
	if w.buyer = card.buyer; d.roll(8) == 0 {
		w.buyer = "gold"
	}
	if w.status == "returned" && d.roll(3) == 0 {
		w.reason = "no mood"
	}
	d.number++
	w.key = fmt.Sprint("k", d.number)
	return card, w
}

func (d *desk) report() {
	card, w := d.word()
	want := d.hears(card, w, time.Now())
	d.expect(d.x.reported(w), want)
	if !strings.HasPrefix(want, "no") && !strings.HasPrefix(want, "inv") {
		d.expect("again "+d.x.reported(w), "again "+want)
	}
}

// reportMany reports on several cards for one buyer, on each once.
func (d *desk) reportMany() {
	var words []word
	var want []string
	seen := map[*paper]bool{}
	buyer := d.cards[d.roll(len(d.cards))].buyer
	for range 5 {
		card, w := d.word()
		if seen[card] {
			continue
		}
		seen[card], w.buyer = true, buyer
		words = append(words, w)
		want = append(want, d.hears(card, w, time.Now()))
	}
	for range 2 {
		d.expect(saidStatus(d.x.reportAll(words...)), strings.Join(want, ", "))
	}
}

// count holds what the buyers have, and what waits, to the cards.
func (d *desk) count() {
	money, waiting := map[string]int{}, 0
	for _, card := range d.cards {
		if card.status != "returned" {
			money[card.buyer] -= 10
		}
		if card.waits {
			waiting++
		}
	}
	for _, buyer := range []string{"blue", "gold"} {
		d.expect(buyer+" has "+d.x.balance(buyer), fmt.Sprint(buyer, " has ", money[buyer]))
	}
	d.expect(fmt.Sprint(len(d.x.state.PendingReturnLeads()), " wait"), fmt.Sprint(waiting, " wait"))
}
