package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/market"
)

// statementHeader is the part of the admin API's statement that comes before the entries:
// account, period, balances and totals.
type statementHeader struct {
	Buyer    string    `json:"buyer_id"`
	Supplier string    `json:"supplier_id"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	AsOf     struct {
		Entry uint64    `json:"entry"`
		At    time.Time `json:"at"`
	} `json:"as_of"`
	Currency string           `json:"currency"`
	Opening  *accountBalance  `json:"opening"`
	Closing  *accountBalance  `json:"closing"`
	Totals   []statementTotal `json:"totals"`
	Count    int              `json:"count"`
}

type accountBalance struct {
	Balance statementAmount `json:"balance"`
	Held    statementAmount `json:"held"`
}

type statementTotal struct {
	Kind      string          `json:"kind"`
	Campaign  string          `json:"campaign_id"`
	Currency  string          `json:"currency"`
	InAccount bool            `json:"in_account"`
	Count     int             `json:"count"`
	Amount    statementAmount `json:"amount"`
}

type statementEntry struct {
	At       time.Time        `json:"at"`
	Kind     string           `json:"kind"`
	Lead     string           `json:"lead_id"`
	Campaign string           `json:"campaign_id"`
	Currency string           `json:"currency"`
	Amount   statementAmount  `json:"amount"`
	Balance  *statementAmount `json:"balance"`
	Note     string           `json:"note"`
}

// printStatement reads the admin API's JSON statement and prints it as text. It reads entry
// by entry, because a statement may have a million entries.
func printStatement(document io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(document)
	members := map[string]json.RawMessage{}
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		if name == "entries" {
			break
		}
		key, ok := name.(string)
		if !ok {
			return fmt.Errorf("cannot read the exchange's statement: it has %v in place of a member name; run the command again", name)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		members[key] = value
	}
	var sum statementHeader
	text, err := json.Marshal(members)
	if err == nil {
		err = json.Unmarshal(text, &sum)
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, sum.String()); err != nil {
		return err
	}
	return printStatementEntries(decoder, &sum, out)
}

// String returns the statement's totals and balances as lines of text.
func (s *statementHeader) String() string {
	whose := s.Buyer + s.Supplier
	text := fmt.Sprintf("%s, from %s to %s UTC\nread from the log up to entry %d, of %s\n\n",
		whose, formatDateOrTime(s.From), formatDateOrTime(s.To), s.AsOf.Entry, formatDateOrTime(s.AsOf.At))
	var t, outside terminal.Table
	if s.Opening != nil {
		t.Row("opening balance", "", "", s.Opening.Balance.String(), s.Currency, describeReservedMoney(s.Opening))
	}
	for i := range s.Totals {
		total := &s.Totals[i]
		into := &t
		if s.Buyer != "" && s.Opening != nil && !total.InAccount {
			into = &outside
		}
		into.Row("  "+total.Kind, total.Campaign, terminal.GroupThousands(total.Count), total.Amount.String(), total.Currency)
	}
	for _, sum := range s.sumTotalsUnlessBalances() {
		t.Row("in all", "", "", sum.amount.String(), sum.currency)
	}
	if s.Closing != nil {
		t.Row("closing balance", "", "", s.Closing.Balance.String(), s.Currency, describeReservedMoney(s.Closing))
	}
	text += t.String()
	if before := outside.String(); before != "" {
		text += "\nbefore the account began, and not in it\n" + before
	}
	if s.Count == 0 {
		text += "no movements in this period\n"
	}
	return text
}

// currencySum is the sum of all totals in one currency.
type currencySum struct {
	currency string
	amount   statementAmount
}

// sumTotalsUnlessBalances returns the sums of the totals by currency, in the order of the totals. It
// returns nil for an account with balances, which already have the sum. A supplier's sum is
// the exchange's debt for the period. A buyer's sum is negative and is the buyer's debt.
func (s *statementHeader) sumTotalsUnlessBalances() (all []currencySum) {
	if s.Opening != nil {
		return nil
	}
	for i := range s.Totals {
		t := &s.Totals[i]
		at := slices.IndexFunc(all, func(a currencySum) bool { return a.currency == t.Currency })
		if at < 0 {
			at, all = len(all), append(all, currencySum{currency: t.Currency})
		}
		all[at].amount += t.Amount
	}
	return all
}

// statementAmount is an amount of any size and sign, because a sum may exceed the highest price.
type statementAmount market.Money

// UnmarshalJSON reads a decimal number with at most six decimals.
func (m *statementAmount) UnmarshalJSON(decimal []byte) error {
	whole, fraction, _ := strings.Cut(string(decimal), ".")
	if len(fraction) > 6 {
		return fmt.Errorf("the exchange's amount %s has more than six decimals", decimal)
	}
	n, err := strconv.ParseInt(whole+fraction+"000000"[len(fraction):], 10, 64)
	*m = statementAmount(n)
	return err
}

func (m statementAmount) String() string { return terminal.FormatMoney(market.Money(m)) }

// describeReservedMoney returns the part of a balance that open posts reserve, or "".
func describeReservedMoney(balance *accountBalance) string {
	if balance.Held == 0 {
		return ""
	}
	return "of it held for open posts " + balance.Held.String()
}

// formatDateOrTime formats a time in UTC to the second, or only its date at midnight.
func formatDateOrTime(t time.Time) string {
	if t = t.UTC(); t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// printStatementEntries prints a line for each entry that the decoder reads. header is the
// statement's header.
func printStatementEntries(decoder *json.Decoder, header *statementHeader, out io.Writer) error {
	switch bracket, err := decoder.Token(); {
	case err != nil:
		return err
	case bracket != json.Delim('['):
		return errors.New("cannot read the exchange's statement: its entries are not a list; run the command again")
	}
	lines := newStatementEntryPrinter(header, out)
	if decoder.More() {
		_, lines.err = io.WriteString(out, "\n")
		balance := "BALANCE"
		if header.Opening == nil {
			balance = ""
		}
		lines.writeColumns("TIME (UTC)", "KIND", lines.padCampaignAndLead("CAMPAIGN", "LEAD"), "AMOUNT", "", balance)
	}
	for decoder.More() && lines.err == nil {
		var e statementEntry
		if err := decoder.Decode(&e); err != nil {
			return err
		}
		lines.writeEntry(&e)
	}
	for range 2 { // of the entries, and of the document
		if _, err := decoder.Token(); err != nil {
			return err
		}
	}
	return lines.err
}

// statementEntryPrinter prints the entries of a statement in columns. The widths are fixed before the
// first line, because names and amounts are no longer than those of the totals.
type statementEntryPrinter struct {
	out       io.Writer
	err       error
	campaigns int
	amounts   int
	several   bool // currencies
}

func newStatementEntryPrinter(header *statementHeader, out io.Writer) *statementEntryPrinter {
	l := &statementEntryPrinter{out: out, campaigns: len("CAMPAIGN"), amounts: len("BALANCE")}
	amounts := []statementAmount{}
	for i := range header.Totals {
		t := &header.Totals[i]
		l.campaigns = max(l.campaigns, utf8.RuneCountInString(t.Campaign))
		l.several = l.several || t.Currency != header.Totals[0].Currency
		amounts = append(amounts, t.Amount)
	}
	if header.Opening != nil && header.Closing != nil {
		amounts = append(amounts, header.Opening.Balance, header.Closing.Balance)
	}
	for _, m := range amounts {
		l.amounts = max(l.amounts, len(m.String()))
	}
	return l
}

const leadWidth = len("lead_01jd0000000000000000000000")

// padCampaignAndLead returns a campaign and a lead id, padded to the widths of their
// columns.
func (l *statementEntryPrinter) padCampaignAndLead(campaign, lead string) string {
	return fmt.Sprintf("%-*s  %-*s", l.campaigns, campaign, leadWidth, lead)
}

// writeColumns prints one line with these values, unless an earlier line could not be
// written.
func (l *statementEntryPrinter) writeColumns(timeText, kind, campaignAndLead, amount, currency, balance string) {
	if l.err != nil {
		return
	}
	text := fmt.Sprintf("%-19s  %-8s  %s  %*s", timeText, kind, campaignAndLead, l.amounts, amount)
	if l.several {
		text += fmt.Sprintf("  %-3s", currency)
	}
	text = strings.TrimRight(fmt.Sprintf("%s  %*s", text, l.amounts, balance), " ")
	_, l.err = io.WriteString(l.out, text+"\n")
}

// writeEntry prints the line of an entry. An entry with a note, such as a top-up, shows the note in
// place of campaign and lead. A long note is cut off; the other formats have all of it.
func (l *statementEntryPrinter) writeEntry(e *statementEntry) {
	place, balance := l.padCampaignAndLead(e.Campaign, e.Lead), ""
	if e.Note != "" {
		width := utf8.RuneCountInString(place)
		place = fmt.Sprintf("%-*s", width, terminal.Truncate(strings.Join(terminal.WrapText(e.Note, terminal.Width), " "), width))
	}
	if e.Balance != nil {
		balance = e.Balance.String()
	}
	l.writeColumns(e.At.UTC().Format(time.DateTime), e.Kind, place, e.Amount.String(), e.Currency, balance)
}
