package main

import (
	"fmt"
	"os"
	"strings"

	"pingpost/engine/market"
)

const (
	agrees  = "agrees"
	differs = "DIFFERS"
)

// report is the account for a terminal of 80 columns.
func (a *account) report() string {
	return "\nBY CAMPAIGN\n" + a.byCampaign() +
		"\nBY PING AND POST, into " + demoAuctions + "\n" + a.deals.byOffer() +
		"\nBY BUYER\n" + a.byBuyer() +
		"\nBUYERS WITH AN ENDPOINT, by their own word\n" + a.byWord() +
		"\nBY REASON\n" + a.byReason() +
		"\nWEBHOOKS, by the supplier's word\n" + a.byEvent() +
		"\nMONEY\n" + a.money() +
		"\nLATENCY, from a lead's turn to its answer\n" + a.latency() +
		"\nAUCTIONS, a few of them\n" + a.drawn() +
		"\nACCOUNTED FOR\n" + a.verdict()
}

func (a *account) byCampaign() string {
	t := table{indent: "  "}
	t.row("campaign", "method", "sent", "accepted", "unmatched", "refused", "no answer")
	add := func(id, method string, c *tally) {
		t.row(id, method, grouped(c.sent), grouped(c.accepted), grouped(c.unmatched), grouped(c.refused), grouped(c.lost))
	}
	for i := range demoCampaigns {
		c := &demoCampaigns[i]
		if counted := a.campaigns[c.ID]; counted != nil {
			add(c.ID, c.method, counted)
		}
	}
	add("all", "", a.total)
	return t.String()
}

// byBuyer shows our count beside the buyer's own.
func (a *account) byBuyer() string {
	t := table{indent: "  "}
	t.row("buyer", "sold", "price", "revenue", "payout", "it counts", "")
	for _, b := range a.set.buyers {
		sold := a.sold[b.ID]
		own, word, price := "", "recorded", ""
		if b.args != nil {
			own, word = grouped(int(a.stats[b.ID].Accepted)), verdictOf(a.buyerAgrees(b))
		}
		if !b.bids() {
			price = amount(b.Price)
		}
		t.row(b.ID, grouped(sold), price, amount(a.owed(b)), amount(a.payout[b.ID]), own, word)
	}
	return t.String()
}

// byWord shows what the buyers were asked, and how they behaved.
func (a *account) byWord() string {
	t := table{indent: "  "}
	t.row("buyer", "pings", "bids", "no bid", "garbled", "limit", "posts", "refused", "failed", "again")
	for _, b := range a.set.buyers {
		if b.args == nil {
			continue
		}
		s := a.stats[b.ID]
		row := []string{b.ID}
		for _, n := range []int64{s.Pings, s.Bids, s.NoBids, s.Malformed, s.Limited, s.Posts, s.Rejected, s.Failed, s.Replayed} {
			text := ""
			if n != 0 {
				text = grouped(int(n))
			}
			row = append(row, text)
		}
		t.row(row...)
	}
	return t.String()
}

func (a *account) latency() string {
	auctions := newTally()
	if counted := a.campaigns[demoAuctions]; counted != nil {
		auctions = counted
	}
	return "  all leads   " + a.total.latency.String() + "\n" +
		"  auctions    " + auctions.latency.String() + "\n" +
		"  A post that buy_shaky answers with an error is tried again after 1 s, and an\n" +
		"  auction waits for its last bid, but no longer than 2 s.\n"
}

func (a *account) drawn() string {
	var out strings.Builder
	for i, auction := range a.shown {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(drawn(auction))
	}
	return out.String()
}

func (a *account) byReason() string {
	t := table{indent: "  "}
	for _, word := range byCount(a.total.reasons) {
		t.row("unmatched", word, grouped(a.total.reasons[word]))
	}
	for _, word := range byCount(a.total.errors) {
		t.row("refused", word, grouped(a.total.errors[word]))
	}
	for _, word := range byCount(a.total.causes) {
		t.row("no answer", word, grouped(a.total.causes[word]))
	}
	return t.String()
}

func (a *account) money() string {
	revenue, payout := a.revenue(), a.paid()
	t := table{indent: "  "}
	t.row("revenue", amount(revenue), "what buyers owe")
	t.row("payout", amount(payout), "what the supplier is owed")
	t.row("margin", amount(revenue-payout), "")
	return t.String()
}

func (a *account) revenue() (sum market.Money) {
	for _, b := range a.set.buyers {
		sum += a.owed(b)
	}
	return sum
}

// owed is what a buyer owes by our account.
func (a *account) owed(b *demoBuyer) market.Money { return b.owes(a.sold[b.ID], a.payout[b.ID]) }

func (a *account) paid() (sum market.Money) {
	for _, paid := range a.payout {
		sum += paid
	}
	return sum
}

// check is one thing that has to hold.
type check struct {
	holds bool
	text  string
}

func (a *account) checks() []check {
	t, s := a.total, a.deals
	list := []check{
		{
			t.sent == len(a.set.leads) && t.sent == t.accepted+t.unmatched+t.refused,
			fmt.Sprintf("%s sent = %s accepted + %s unmatched + %s refused", grouped(t.sent), grouped(t.accepted), grouped(t.unmatched), grouped(t.refused)),
		},
		{len(a.wrong) == 0, "every lead with a mistake was refused for it, and no other"},
		{
			s.offered == len(a.set.offers) && s.lost == 0 && s.offered == s.sold+s.refused+s.noBid,
			fmt.Sprintf("%s offered = %s sold + %s refused + %s without a bid", grouped(s.offered), grouped(s.sold), grouped(s.refused), grouped(s.noBid)),
		},
		{a.again == a.repeated, fmt.Sprintf("%d leads sent again under their keys: the same %d answers", a.repeated, a.again)},
		{s.again == s.repeated, fmt.Sprintf("%d offers made again under their keys: the same %d answers", s.repeated, s.again)},
		{a.pending == 0, "no delivery is open"},
	}
	sold := 0
	for _, b := range a.set.buyers {
		sold += a.sold[b.ID]
		if b.args != nil {
			own := a.stats[b.ID]
			list = append(list, check{a.buyerAgrees(b), fmt.Sprintf("%s: sold %s, it counts %s; owes %s, it counts %s",
				b.ID, grouped(a.sold[b.ID]), grouped(int(own.Accepted)), amount(a.owed(b)), amount(own.Revenue))})
		}
	}
	spent := market.Money(a.sold["buy_vault"]) * a.buyer("buy_vault").Price
	list = append(list, a.toldOf()...)
	return append(list,
		check{sold == t.accepted+s.sold, fmt.Sprintf("%s sold to buyers that exist = %s accepted + %s of the offers", grouped(sold), grouped(t.accepted), grouped(s.sold))},
		check{a.vault == vaultFunds-spent, fmt.Sprintf("buy_vault: %s paid in - %s spent = %s left", amount(vaultFunds), amount(spent), amount(a.vault))},
		check{a.soldOnce(), "no lead was sold twice"},
		check{a.discreet(), "no ping said who the person is"})
}

func (a *account) buyer(id string) *demoBuyer {
	for _, b := range a.set.buyers {
		if b.ID == id {
			return b
		}
	}
	panic("BUG: the demonstration has no buyer " + id)
}

// buyerAgrees compares a buyer's account with ours. Of a delivery whose fate is
// not known the buyer may have the lead or not.
func (a *account) buyerAgrees(b *demoBuyer) bool {
	own, sold, unknown := a.stats[b.ID], int64(a.sold[b.ID]), int64(a.unknown[b.ID])
	if own.Accepted > sold || own.Accepted < sold-unknown {
		return false
	}
	if b.bids() {
		return own.Revenue <= a.owed(b) && (own.Revenue == a.owed(b)) == (own.Accepted == sold)
	}
	return own.Revenue == market.Money(own.Accepted)*b.Price
}

func (a *account) soldOnce() bool {
	for _, s := range a.stats {
		if s.DoubleSold != 0 {
			return false
		}
	}
	return true
}

func (a *account) discreet() bool {
	for _, s := range a.stats {
		if s.ContactSeen != 0 {
			return false
		}
	}
	return true
}

func (a *account) good() bool {
	for _, c := range a.checks() {
		if !c.holds {
			return false
		}
	}
	return true
}

// maxWrong bounds how many answers that do not fit are shown.
const maxWrong = 10

func (a *account) verdict() string {
	t := table{indent: "  "}
	for _, c := range a.checks() {
		t.row(verdictOf(c.holds), c.text)
	}
	out := t.String()
	for _, text := range a.wrong[:min(len(a.wrong), maxWrong)] {
		out += "  " + text + "\n"
	}
	return out
}

func verdictOf(holds bool) string {
	if holds {
		return agrees
	}
	return differs
}

// paint colours the words that matter, for a terminal.
func paint(text string) string {
	if !isTerminal(os.Stdout) || os.Getenv("NO_COLOR") != "" {
		return text
	}
	return strings.NewReplacer(agrees, "\x1b[32m"+agrees+"\x1b[0m", differs, "\x1b[1;31m"+differs+"\x1b[0m").Replace(text)
}
