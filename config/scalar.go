package config

import (
	"errors"
	"strconv"
	"strings"

	"pingpost/engine/market"
)

// expected says what form was wanted and what stood there instead.
func expected(what string, n *node) error {
	return errors.New("expected " + what + ", found " + n.kind.said())
}

// readText takes text only: a number or a boolean meant as text is to be quoted,
// since YAML would rewrite some of them (0123, 1e3, NO).
func readText(n *node, into *string) error {
	switch n.kind {
	case textKind:
		*into = n.text
		return nil
	case numberKind, boolKind:
		return errors.New("expected text, found " + n.kind.said() + "; put it in quotes")
	}
	return expected("text", n)
}

// digitsOf is the digits of a number, or what the environment holds in its place.
func digitsOf(n *node, what string) (string, error) {
	if n.kind != numberKind && (n.kind != textKind || !n.expanded) {
		if n.kind == textKind {
			return "", errors.New("expected " + what + ", found text; write digits, without quotes")
		}
		return "", expected(what, n)
	}
	return strings.TrimSpace(n.text), nil
}

func readBool(n *node, into *bool) error {
	if n.kind == boolKind || n.kind == textKind && n.expanded {
		switch strings.TrimSpace(n.text) {
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

func readInt(n *node, into *int) error {
	text, err := digitsOf(n, "a whole number")
	if err != nil {
		return err
	}
	if !decimal.MatchString(text) || strings.ContainsAny(text, ".eE") {
		return errors.New("expected a whole number, in plain digits such as 100")
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("the number is too large")
	}
	*into = value
	return nil
}

func readMoney(n *node, into *market.Money) error {
	text, err := digitsOf(n, "an amount")
	if err != nil {
		return err
	}
	*into, err = market.ParseMoney([]byte(text))
	return explain(err)
}

// explain adds what to do to what market says of an amount.
func explain(err error) error {
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

// Share is a part of a price in millionths of one.
type Share market.Share

func (s *Share) read(n *node) error {
	text, err := digitsOf(n, "a share from 0 to 1")
	if err != nil {
		return err
	}
	parsed, err := market.ParseShare([]byte(text))
	if errors.Is(err, market.ErrShareRange) {
		return errors.New(err.Error() + "; give a share from 0 to 1, such as 0.8")
	}
	*s = Share(parsed)
	return explain(err)
}

// MarshalJSON writes the shortest number.
func (s Share) MarshalJSON() ([]byte, error) { return market.Money(s).AppendJSON(nil), nil }

// Number is a decimal number by its digits, which are kept as they were written.
type Number string

func (d *Number) read(n *node) error {
	text, err := digitsOf(n, "a number")
	if err != nil {
		return err
	}
	if !decimal.MatchString(text) {
		return errors.New("expected a number, in plain digits such as 1 or 2.5")
	}
	*d = Number(text)
	return nil
}

// MarshalJSON writes the digits.
func (d Number) MarshalJSON() ([]byte, error) { return []byte(d), nil }

func (d *Number) text() *string {
	if d == nil {
		return nil
	}
	text := string(*d)
	return &text
}

// Word is a value that is compared as text but may be written as a number or a
// boolean: the values of an enum, of a filter, a default.
type Word string

func (w *Word) read(n *node) error {
	if n.kind == textKind || n.kind == numberKind || n.kind == boolKind {
		*w = Word(n.text)
		return nil
	}
	return expected("a value", n)
}

func texts(words []Word) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return out
}
