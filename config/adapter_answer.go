package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

const (
	maxAnswerPath      = 64 // bytes of a place in an answer
	maxAnswerPathSteps = 8
	maxAnswerValues    = 32 // values that mean yes, or no
)

// compileAnswer judges the rules by which an answer is read.
func (c *compiler) compileAnswer(at syntax.Path, a *schema.Answer, ping bool) market.AnswerPaths {
	if !c.checkFormat(at.Key("format"), a.Format) {
		return market.AnswerPaths{}
	}
	for _, one := range [...]struct{ key, where string }{
		{"accepted", a.Accepted},
		{"price", a.Price},
		{"currency", a.Currency},
		{"token", a.Token},
		{"id", a.ID},
		{"reason", a.Reason},
	} {
		c.checkAnswerPath(at.Key(one.key), a.Format, one.where)
	}
	if ping {
		if a.Price == "" {
			c.report(at.Key("price"), "is missing; say where the answer has the price that is bid")
		}
		c.rejectAnswerKey(at.Key("id"), a.ID, "post", "a buyer has an id for a lead once it has the lead")
	} else {
		if a.Accepted == "" {
			c.report(at.Key("accepted"), "is missing; say where the answer tells whether the lead was taken")
		}
		c.rejectAnswerKey(at.Key("price"), a.Price, "ping", "the price was bid then")
		c.rejectAnswerKey(at.Key("currency"), a.Currency, "ping", "the price was bid then")
		c.rejectAnswerKey(at.Key("token"), a.Token, "ping", "a post presents it")
	}
	switch {
	case a.Accepted != "" && len(a.Yes) == 0:
		c.report(at.Key("yes"), "is missing; list the values of accepted that mean yes")
	case a.Accepted == "" && len(a.Yes)+len(a.No) > 0:
		c.report(at.Key("accepted"), "is missing; say where the answer has the value that yes and no speak of")
	}
	meant := map[string]syntax.Path{}
	return market.AnswerPaths{
		Format: a.Format, Accepted: a.Accepted,
		Yes: c.answerValues(at.Key("yes"), a.Yes, meant), No: c.answerValues(at.Key("no"), a.No, meant),
		Price: a.Price, Currency: a.Currency, Token: a.Token, ID: a.ID, Reason: a.Reason,
	}
}

func (c *compiler) rejectAnswerKey(at syntax.Path, where, other, why string) {
	if where != "" {
		c.report(at, "is read from the answer to a "+other+": "+why+"; remove it")
	}
}

// answerValues writes values a line each.
func (c *compiler) answerValues(at syntax.Path, words []schema.Literal, meant map[string]syntax.Path) string {
	var lines strings.Builder
	if len(words) > maxAnswerValues {
		c.report(at, "has over 32 values")
	}
	for i, word := range words {
		if word == "" || len(word) > maxAnswerPath || strings.ContainsFunc(string(word), isOutsideLine) || strings.TrimSpace(string(word)) != string(word) {
			c.report(at.Index(i), "is not a value to look for; give up to 64 characters of printable ASCII")
		}
		c.checkUnique(at.Index(i), meant, strings.ToLower(string(word)))
		lines.WriteString(string(word) + "\n")
	}
	return lines.String()
}

// checkAnswerPath judges a place in an answer; an empty one is not looked at.
func (c *compiler) checkAnswerPath(at syntax.Path, format, where string) {
	if where == "" {
		return
	}
	separator := map[string]string{market.FormatJSON: ".", market.FormatXML: "/"}[format]
	steps := []string{where}
	if separator != "" {
		steps = strings.Split(where, separator)
	}
	bad := len(where) > maxAnswerPath || len(steps) > maxAnswerPathSteps || strings.ContainsFunc(where, isOutsideLine)
	for i, step := range steps {
		attribute := strings.HasPrefix(step, "@")
		bad = bad || step == "" || step == "@" ||
			format == market.FormatXML && attribute && (i == 0 || i < len(steps)-1)
	}
	if bad {
		c.report(at, map[string]string{
			market.FormatJSON: "is not a place in JSON; write member names with dots between, such as data.offer.price",
			market.FormatForm: "is not the name of a parameter; write such as price",
			market.FormatXML:  "is not a place in XML; write element names from the root on with slashes, such as Response/Bid/@price",
		}[format])
	}
}
