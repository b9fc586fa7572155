package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// statementSum is what a statement says before its entries.
type statementSum struct {
	Buyer    string    `json:"buyer_id"`
	Supplier string    `json:"supplier_id"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	AsOf     struct {
		Entry uint64    `json:"entry"`
		At    time.Time `json:"at"`
	} `json:"as_of"`
	Currency string             `json:"currency"`
	Opening  *statementStanding `json:"opening"`
	Closing  *statementStanding `json:"closing"`
	Totals   []statementTotal   `json:"totals"`
	Count    int                `json:"count"`
}

type statementStanding struct {
	Balance json.Number `json:"balance"`
	Held    json.Number `json:"held"`
}

type statementTotal struct {
	Kind      string      `json:"kind"`
	Campaign  string      `json:"campaign_id"`
	Currency  string      `json:"currency"`
	InAccount bool        `json:"in_account"`
	Count     int         `json:"count"`
	Amount    json.Number `json:"amount"`
}

type statementEntry struct {
	At       time.Time    `json:"at"`
	Kind     string       `json:"kind"`
	Lead     string       `json:"lead_id"`
	Campaign string       `json:"campaign_id"`
	Currency string       `json:"currency"`
	Amount   json.Number  `json:"amount"`
	Balance  *json.Number `json:"balance"`
	Note     string       `json:"note"`
}

// tellStatement writes a statement's document for people, entry by entry: it may
// have a million.
func tellStatement(document io.Reader, out io.Writer) error {
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
			return fmt.Errorf("it has %v where its entries should come", name)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		members[key] = value
	}
	var sum statementSum
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
	return tellEntries(decoder, &sum, out)
}

// String is the sum in a few lines.
func (s *statementSum) String() string {
	whose := s.Buyer + s.Supplier
	text := fmt.Sprintf("%s, from %s to %s UTC\nread from the log up to entry %d, of %s\n\n",
		whose, clockTime(s.From), clockTime(s.To), s.AsOf.Entry, clockTime(s.AsOf.At))
	var t, outside table
	if s.Opening != nil {
		t.row("opening balance", "", "", amountOf(s.Opening.Balance.String()), s.Currency, heldOf(s.Opening))
	}
	for i := range s.Totals {
		total := &s.Totals[i]
		into := &t
		if s.Buyer != "" && s.Opening != nil && !total.InAccount {
			into = &outside
		}
		into.row("  "+total.Kind, total.Campaign, grouped(total.Count), amountOf(total.Amount.String()), total.Currency)
	}
	if s.Closing != nil {
		t.row("closing balance", "", "", amountOf(s.Closing.Balance.String()), s.Currency, heldOf(s.Closing))
	}
	text += t.String()
	if len(outside.rows) > 0 {
		text += "\nbefore the account began, and not in it\n" + outside.String()
	}
	if s.Count == 0 {
		text += "nothing came and nothing went\n"
	}
	return text
}

func heldOf(s *statementStanding) string {
	if s.Held == "0" {
		return ""
	}
	return "of it held for open posts " + amountOf(s.Held.String())
}

// clockTime is a time to the second, or a day where it is the day's beginning.
func clockTime(t time.Time) string {
	if t = t.UTC(); t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// tellEntries writes a line for each entry. What it is to be as wide as, it knows
// before the first: names from the sums, amounts at most as long as the longest.
func tellEntries(decoder *json.Decoder, sum *statementSum, out io.Writer) error {
	if _, err := decoder.Token(); err != nil {
		return err
	}
	campaigns, amounts := len("CAMPAIGN"), len("-100,000.00")
	for i := range sum.Totals {
		campaigns = max(campaigns, utf8.RuneCountInString(sum.Totals[i].Campaign))
		amounts = max(amounts, len(amountOf(sum.Totals[i].Amount.String())))
	}
	line := func(cells ...string) error {
		text := fmt.Sprintf("%-19s  %-8s  %-*s  %-31s  %*s  %-3s  %*s  %s",
			cells[0], cells[1], campaigns, cells[2], cells[3], amounts, cells[4], cells[5], amounts, cells[6], cells[7])
		_, err := io.WriteString(out, strings.TrimRight(text, " ")+"\n")
		return err
	}
	for first := true; decoder.More(); first = false {
		if first {
			if _, err := io.WriteString(out, "\n"); err != nil {
				return err
			}
			if err := line("TIME (UTC)", "KIND", "CAMPAIGN", "LEAD", "AMOUNT", "", "BALANCE", ""); err != nil {
				return err
			}
		}
		var e statementEntry
		if err := decoder.Decode(&e); err != nil {
			return err
		}
		balance := ""
		if e.Balance != nil {
			balance = amountOf(e.Balance.String())
		}
		note := strings.Join(wrapped(e.Note, columns), " ")
		if err := line(e.At.UTC().Format(time.DateTime), e.Kind, e.Campaign, e.Lead, amountOf(e.Amount.String()), e.Currency, balance, note); err != nil {
			return err
		}
	}
	for range 2 { // of the entries, and of the document
		if _, err := decoder.Token(); err != nil {
			return err
		}
	}
	return nil
}
