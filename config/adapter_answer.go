package config

import (
	"strings"

	"pingpost/engine/market"
)

// Answer is where in a buyer's answer to find what.
type Answer struct {
	Format   string `json:"format"` // absent: the body's
	Accepted string `json:"accepted,omitempty"`
	Yes      []Word `json:"yes,omitempty"` // values of accepted
	No       []Word `json:"no,omitempty"`
	Price    string `json:"price,omitempty"`
	Currency string `json:"currency,omitempty"`
	Token    string `json:"token,omitempty"`
	ID       string `json:"id,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

const (
	maxWhere      = 64 // bytes of a place in an answer
	maxWhereSteps = 8
	maxVerdicts   = 32 // values that mean yes, or no
)

// answer judges the rules by which an answer is read.
func (c *compiler) answer(at place, a *Answer, ping bool) market.Reading {
	if !c.format(at.key("format"), a.Format) {
		return market.Reading{}
	}
	for _, one := range [...]struct{ key, where string }{
		{"accepted", a.Accepted},
		{"price", a.Price},
		{"currency", a.Currency},
		{"token", a.Token},
		{"id", a.ID},
		{"reason", a.Reason},
	} {
		c.where(at.key(one.key), a.Format, one.where)
	}
	if ping {
		if a.Price == "" {
			c.fail(at.key("price"), "is missing; say where the answer has the price that is bid")
		}
		c.notIn(at.key("id"), a.ID, "post", "a buyer has an id for a lead once it has the lead")
	} else {
		if a.Accepted == "" {
			c.fail(at.key("accepted"), "is missing; say where the answer tells whether the lead was taken")
		}
		c.notIn(at.key("price"), a.Price, "ping", "the price was bid then")
		c.notIn(at.key("currency"), a.Currency, "ping", "the price was bid then")
		c.notIn(at.key("token"), a.Token, "ping", "a post presents it")
	}
	switch {
	case a.Accepted != "" && len(a.Yes) == 0:
		c.fail(at.key("yes"), "is missing; list the values of accepted that mean yes")
	case a.Accepted == "" && len(a.Yes)+len(a.No) > 0:
		c.fail(at.key("accepted"), "is missing; say where the answer has the value that yes and no speak of")
	}
	meant := map[string]place{}
	return market.Reading{
		Format: a.Format, Accepted: a.Accepted,
		Yes: c.verdicts(at.key("yes"), a.Yes, meant), No: c.verdicts(at.key("no"), a.No, meant),
		Price: a.Price, Currency: a.Currency, Token: a.Token, ID: a.ID, Reason: a.Reason,
	}
}

func (c *compiler) notIn(at place, where, other, why string) {
	if where != "" {
		c.fail(at, "is read from the answer to a "+other+": "+why+"; remove it")
	}
}

// verdicts writes values a line each.
func (c *compiler) verdicts(at place, words []Word, meant map[string]place) string {
	var lines strings.Builder
	if len(words) > maxVerdicts {
		c.fail(at, "has over 32 values")
	}
	for i, word := range words {
		if word == "" || len(word) > maxWhere || strings.ContainsFunc(string(word), notInLine) || strings.TrimSpace(string(word)) != string(word) {
			c.fail(at.at(i), "is not a value to look for; give up to 64 characters of printable ASCII")
		}
		c.once(at.at(i), meant, strings.ToLower(string(word)))
		lines.WriteString(string(word) + "\n")
	}
	return lines.String()
}

// where judges a place in an answer; an empty one is not looked at.
func (c *compiler) where(at place, format, where string) {
	if where == "" {
		return
	}
	separator := map[string]string{market.FormatJSON: ".", market.FormatXML: "/"}[format]
	steps := []string{where}
	if separator != "" {
		steps = strings.Split(where, separator)
	}
	bad := len(where) > maxWhere || len(steps) > maxWhereSteps || strings.ContainsFunc(where, notInLine)
	for i, step := range steps {
		attribute := strings.HasPrefix(step, "@")
		bad = bad || step == "" || step == "@" ||
			format == market.FormatXML && attribute && (i == 0 || i < len(steps)-1)
	}
	if bad {
		c.fail(at, map[string]string{
			market.FormatJSON: "is not a place in JSON; write member names with dots between, such as data.offer.price",
			market.FormatForm: "is not the name of a parameter; write such as price",
			market.FormatXML:  "is not a place in XML; write element names from the root on with slashes, such as Response/Bid/@price",
		}[format])
	}
}
