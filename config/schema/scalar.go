package schema

import (
	"errors"
	"strconv"
	"strings"

	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// newExpectedError returns the error for a node of the wrong kind. expected describes the
// value that the key needs.
func newExpectedError(expected string, n *syntax.Node) error {
	return errors.New("expected " + expected + ", found " + n.Kind.Describe())
}

// readText reads a text from the node. A number or boolean that is meant as text needs
// quotes, because YAML would rewrite some of them (0123, 1e3, NO).
func readText(n *syntax.Node, into *string) error {
	switch n.Kind {
	case syntax.Text:
		*into = n.Text
		return nil
	case syntax.Number, syntax.Bool:
		return errors.New("expected text, found " + n.Kind.Describe() + "; put it in quotes")
	}
	return newExpectedError("text", n)
}

// readNumberOrExpandedText returns a number as written, with sign, point and exponent. It also accepts
// a text that comes from an environment variable, and does not check that it is a number. expected
// describes the value for the error.
func readNumberOrExpandedText(n *syntax.Node, expected string) (string, error) {
	if n.Kind != syntax.Number && (n.Kind != syntax.Text || !n.Expanded) {
		if n.Kind == syntax.Text {
			return "", errors.New("expected " + expected + ", found text; write digits, without quotes")
		}
		return "", newExpectedError(expected, n)
	}
	return strings.TrimSpace(n.Text), nil
}

func readBool(n *syntax.Node, into *bool) error {
	if n.Kind == syntax.Bool || n.Kind == syntax.Text && n.Expanded {
		switch strings.TrimSpace(n.Text) {
		case "true":
			*into = true
			return nil
		case "false":
			*into = false
			return nil
		}
	}
	return errors.New("expected true or false")
}

func readInt(n *syntax.Node, into *int) error {
	text, err := readNumberOrExpandedText(n, "a whole number")
	if err != nil {
		return err
	}
	if !syntax.Decimal.MatchString(text) || strings.ContainsAny(text, ".eE") {
		return errors.New("expected a whole number, in plain digits such as 100")
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("the number is too large")
	}
	*into = value
	return nil
}

func readMoney(n *syntax.Node, into *market.Money) error {
	text, err := readNumberOrExpandedText(n, "an amount")
	if err != nil {
		return err
	}
	*into, err = market.ParseMoney([]byte(text))
	return addMoneyRemedy(err)
}

// addMoneyRemedy adds the remedy to market's error about an amount.
func addMoneyRemedy(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, market.ErrNotNumber):
		return errors.New("expected an amount, in plain digits such as 12.50")
	case errors.Is(err, market.ErrTooPrecise):
		return errors.New(err.Error() + "; give at most six decimals")
	case errors.Is(err, market.ErrNegative):
		return errors.New(err.Error() + "; give 0 or more")
	case errors.Is(err, market.ErrTooLarge):
		return errors.New(err.Error() + "; give at most 1000000")
	}
	return err
}

// Share is a share from 0 to 1, such as 0.8, stored in millionths.
type Share market.ShareInMillionths

func (s *Share) decodeNode(n *syntax.Node) error {
	text, err := readNumberOrExpandedText(n, "a share from 0 to 1")
	if err != nil {
		return err
	}
	parsed, err := market.ParseShare([]byte(text))
	if errors.Is(err, market.ErrShareRange) {
		return errors.New(err.Error() + "; give a share from 0 to 1, such as 0.8")
	}
	*s = Share(parsed)
	return addMoneyRemedy(err)
}

// MarshalJSON writes the shortest number.
func (s Share) MarshalJSON() ([]byte, error) { return market.Money(s).AppendJSON(nil), nil }

// Factor is a factor from 0 to 100, such as 1.25, stored in millionths.
type Factor market.Factor

func (f *Factor) decodeNode(n *syntax.Node) error {
	text, err := readNumberOrExpandedText(n, "a factor from 0 to 100")
	if err != nil {
		return err
	}
	parsed, err := market.ParseFactor([]byte(text))
	if errors.Is(err, market.ErrFactorTooLarge) {
		return errors.New(err.Error() + "; give a factor from 0 to 100, such as 1.25")
	}
	*f = Factor(parsed)
	return addMoneyRemedy(err)
}

// OrUnchanged returns the factor, or 1 for a nil factor.
func (f *Factor) OrUnchanged() market.Factor {
	if f == nil {
		return market.UnchangedFactor
	}
	return market.Factor(*f)
}

// MarshalJSON writes the shortest number.
func (f Factor) MarshalJSON() ([]byte, error) { return market.Money(f).AppendJSON(nil), nil }

// DecimalNumber is a decimal number, kept as the digits in the document.
type DecimalNumber string

func (d *DecimalNumber) decodeNode(n *syntax.Node) error {
	text, err := readNumberOrExpandedText(n, "a number")
	if err != nil {
		return err
	}
	if !syntax.Decimal.MatchString(text) {
		return errors.New("expected a number, in plain digits such as 1 or 2.5")
	}
	*d = DecimalNumber(text)
	return nil
}

// MarshalJSON writes the digits.
func (d DecimalNumber) MarshalJSON() ([]byte, error) { return []byte(d), nil }

// TextOrNil returns the number as written, or nil for a nil number.
func (d *DecimalNumber) TextOrNil() *string {
	if d == nil {
		return nil
	}
	text := string(*d)
	return &text
}

// ScalarAsText is a value that is compared as text but may be written as a number or a boolean.
// Examples are enum values, filter values and defaults.
type ScalarAsText string

func (w *ScalarAsText) decodeNode(n *syntax.Node) error {
	if n.Kind == syntax.Text || n.Kind == syntax.Number || n.Kind == syntax.Bool {
		*w = ScalarAsText(n.Text)
		return nil
	}
	return newExpectedError("a value", n)
}
