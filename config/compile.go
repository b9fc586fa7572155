package config

import (
	"net/netip"
	"strings"
	"time"

	"pingpost/engine/market"
)

// Exchange is a document that has been judged and compiled.
type Exchange struct {
	Settings Settings
	Catalog  *market.Catalog // every Ref and the Version are zero: they are given when it is applied
	Firsts   Firsts
	Document *Document // with its defaults; what the catalog has no place for is looked up here

	// Canonical is the document as JSON, with its defaults and without a
	// secret. Documents that mean the same have the same bytes, and reading
	// it gives the same bytes again. It is what is logged, compared and
	// exported.
	Canonical []byte

	// Kept are variables without a value here. The document was read for an exchange
	// that may have sealed their values.
	Kept []Kept

	// Warnings are what is allowed and most likely not meant.
	Warnings Problems
}

// compiler judges one document and builds what it describes. It goes on after
// a mistake, with whatever value keeps later rules quiet about it.
//
// References are looked up in maps made once, so that the work grows with the
// length of the document and not with the product of its parts.
type compiler struct {
	source   *Source
	problems Problems
	out      *Exchange
	networks []netip.Prefix
	zones    map[string]*time.Location // nil value: known to be no zone

	buyers      map[string]*buyerEntry
	credentials map[string]place           // where a client id, key or token was first seen
	mappings    map[string]*market.Mapping // by the fields that they were compiled from
}

// Compile judges the document and builds the exchange. The error is *Problems,
// with every mistake.
func (s *Source) Compile() (*Exchange, error) {
	c := &compiler{
		source: s,
		out: &Exchange{
			Document: s.Document,
			Catalog: &market.Catalog{
				Suppliers: make(map[market.SupplierID]*market.Supplier, len(s.Document.Suppliers)),
				Buyers:    make(map[market.BuyerID]*market.Buyer, len(s.Document.Buyers)),
				Campaigns: make(map[market.CampaignID]*market.Campaign, len(s.Document.Campaigns)),
				Lists:     make(map[market.ListID]*market.List, len(s.Document.Lists)),
			},
		},
		zones:       make(map[string]*time.Location),
		buyers:      make(map[string]*buyerEntry, len(s.Document.Buyers)),
		credentials: make(map[string]place),
		mappings:    make(map[string]*market.Mapping),
	}
	c.document(s.Document)
	if err := c.problems.err(); err != nil {
		return nil, err
	}
	c.out.Canonical = canonical(s.Document)
	if message := oversize(c.out.Canonical); message != "" {
		return nil, Problems{{File: s.Path, Message: "with its defaults written out the document " + message}}.err()
	}
	return c.out, nil
}

func (c *compiler) document(d *Document) {
	c.settings(d)
	for i := range d.Lists {
		c.list(place("suppression_lists").at(i), &d.Lists[i])
	}
	for i := range d.Suppliers {
		c.supplier(place("suppliers").at(i), &d.Suppliers[i])
	}
	for i := range d.Buyers {
		c.buyer(place("buyers").at(i), &d.Buyers[i])
	}
	for i := range d.Campaigns {
		c.campaign(place("campaigns").at(i), &d.Campaigns[i])
	}
	c.overlaps(d.Campaigns)
}

// fail reports a mistake in words that hold nothing of the value.
func (c *compiler) fail(at place, message string) {
	c.problems = append(c.problems, c.problem(at, message))
}

// problem is a message with its place.
func (c *compiler) problem(at place, message string) Problem {
	found, _ := c.source.find(at)
	return Problem{File: c.source.Path, Line: found.line, Column: found.column, Path: string(at), Message: message}
}

// failQuoting reports a mistake in words that may hold the value. Where it came
// out of the environment they are withheld.
func (c *compiler) failQuoting(at place, message string) {
	found, _ := c.source.find(at)
	if found.holdsExpanded() {
		message = "what the environment gives here does not fit; see the documentation of this key"
	}
	c.fail(at, message)
}

// holdsExpanded tells whether something in the node is from the environment.
func (n *node) holdsExpanded() bool {
	if n.expanded {
		return true
	}
	for _, m := range n.members {
		if m.value.holdsExpanded() {
			return true
		}
	}
	for _, item := range n.items {
		if item.holdsExpanded() {
			return true
		}
	}
	return false
}

// once reports a name that stands a second time in a list that must not repeat.
func (c *compiler) once(at place, seen map[string]place, name string) bool {
	first, twice := seen[name]
	if twice {
		c.fail(at, "is the same as "+string(first)+"; each may stand here once")
		return false
	}
	seen[name] = at
	return true
}

// oneOf reports a word that is not among the choices.
func (c *compiler) oneOf(at place, word string, choices ...string) bool {
	for _, choice := range choices {
		if word == choice {
			return true
		}
	}
	c.fail(at, "unknown value; use "+strings.Join(choices, ", "))
	return false
}
