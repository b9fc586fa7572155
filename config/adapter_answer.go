package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

const (
	maxAnswerPath      = 64 // maximum length of a path in an answer, in bytes
	maxAnswerPathSteps = 8
	maxAnswerValues    = 32 // maximum number of values for yes, and for no
)

// compileAnswerRules checks and compiles the rules by which the exchange reads a buyer's answer to
// a ping or a post.
func (c *compiler) compileAnswerRules(at syntax.KeyPath, a *schema.AnswerRules, isPing bool) market.BuyerAnswerValuePaths {
	if !c.checkBodyFormat(at.Key("format"), a.Format) {
		return market.BuyerAnswerValuePaths{}
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
	if isPing {
		if a.Price == "" {
			c.reportMistake(at.Key("price"), "is missing; give the place of the bid's price in the answer")
		}
		c.reportAnswerKeyIfSet(at.Key("id"), a.ID, "post", "a buyer assigns an id only when it has the lead")
	} else {
		if a.Accepted == "" {
			c.reportMistake(at.Key("accepted"), "is missing; give the place in the answer that says whether the buyer accepts the lead")
		}
		c.reportAnswerKeyIfSet(at.Key("price"), a.Price, "ping", "the buyer bids the price there")
		c.reportAnswerKeyIfSet(at.Key("currency"), a.Currency, "ping", "the buyer bids the price there")
		c.reportAnswerKeyIfSet(at.Key("token"), a.Token, "ping", "the ping's answer gives it and the post sends it back")
	}
	switch {
	case a.Accepted != "" && len(a.Yes) == 0:
		c.reportMistake(at.Key("yes"), "is missing; list the values of accepted that mean yes")
	case a.Accepted == "" && len(a.Yes)+len(a.No) > 0:
		c.reportMistake(at.Key("accepted"), "is missing; give the place in the answer of the value that yes and no list")
	}
	meant := map[string]syntax.KeyPath{}
	return market.BuyerAnswerValuePaths{
		Format: a.Format, Accepted: a.Accepted,
		Yes: c.checkAndJoinValuesForYesOrNo(at.Key("yes"), a.Yes, meant), No: c.checkAndJoinValuesForYesOrNo(at.Key("no"), a.No, meant),
		Price: a.Price, Currency: a.Currency, Token: a.Token, ID: a.ID, Reason: a.Reason,
	}
}

// reportAnswerKeyIfSet reports a mistake if value is set, because its key is allowed only in the
// answer to requestThatHasKey (ping or post).
func (c *compiler) reportAnswerKeyIfSet(at syntax.KeyPath, value, requestThatHasKey, whyKeyBelongsThere string) {
	if value != "" {
		c.reportMistake(at, "belongs to the answer to a "+requestThatHasKey+": "+whyKeyBelongsThere+"; remove it")
	}
}

// checkAndJoinValuesForYesOrNo checks the values of an answer that mean yes or no, and returns them with
// one in each line. pathsByValue has the values checked before, in lower case: no value may occur twice.
func (c *compiler) checkAndJoinValuesForYesOrNo(at syntax.KeyPath, values []schema.ScalarAsText, pathsByValue map[string]syntax.KeyPath) string {
	var lines strings.Builder
	if len(values) > maxAnswerValues {
		c.reportMistake(at, "has over 32 values")
	}
	for i, value := range values {
		if value == "" || len(value) > maxAnswerPath || strings.ContainsFunc(string(value), isNotPrintableASCII) || strings.TrimSpace(string(value)) != string(value) {
			c.reportMistake(at.Index(i), "is not a valid value; give 1 to 64 characters of printable ASCII, without spaces at the ends")
		}
		c.checkUnique(at.Index(i), pathsByValue, strings.ToLower(string(value)))
		lines.WriteString(string(value) + "\n")
	}
	return lines.String()
}

// checkAnswerPath reports a mistake if answerPath cannot select a value in an answer of this
// format. An empty path is valid.
func (c *compiler) checkAnswerPath(at syntax.KeyPath, format, answerPath string) {
	if answerPath == "" {
		return
	}
	separator := map[string]string{market.FormatJSON: ".", market.FormatXML: "/"}[format]
	steps := []string{answerPath}
	if separator != "" {
		steps = strings.Split(answerPath, separator)
	}
	bad := len(answerPath) > maxAnswerPath || len(steps) > maxAnswerPathSteps || strings.ContainsFunc(answerPath, isNotPrintableASCII)
	for i, step := range steps {
		attribute := strings.HasPrefix(step, "@")
		bad = bad || step == "" || step == "@" ||
			format == market.FormatXML && attribute && (i == 0 || i < len(steps)-1)
	}
	if bad {
		c.reportMistake(at, map[string]string{
			market.FormatJSON: "is not a path in JSON; write at most 8 member names separated by dots (64 characters in all), such as data.offer.price",
			market.FormatForm: "is not the name of a parameter; write for example price",
			market.FormatXML:  "is not a path in XML; write at most 8 names from the root, separated by slashes (64 characters in all), such as Response/Bid/@price",
		}[format])
	}
}
