package config

import (
	"net/netip"
	"time"

	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// Compiled is a document that has been judged and compiled.
type Compiled struct {
	Settings Settings
	Catalog  *market.Catalog // every Ref and the Version are zero: they are given when it is applied
	Initial  InitialValues
	Document *schema.Document // with its defaults; what the catalog has no place for is looked up here

	// Canonical is the document as JSON, with its defaults and without a
	// secret. Documents that mean the same have the same bytes, and reading
	// it gives the same bytes again. It is what is logged, compared and
	// exported.
	Canonical []byte

	// Kept are variables without a value here. The document was read for an exchange
	// that may have sealed their values.
	Unset []UnsetVariable

	// Warnings are what is allowed and most likely not meant.
	Warnings syntax.Problems
}

// compiler judges one document and builds what it describes. It goes on after
// a mistake, with whatever value keeps later rules quiet about it.
//
// References are looked up in maps made once, so that the work grows with the
// length of the document and not with the product of its parts.
type compiler struct {
	source   *Source
	problems syntax.Problems
	out      *Compiled
	networks []netip.Prefix
	zones    map[string]*time.Location // nil value: known to be no zone

	buyers      map[string]*compiledBuyer
	credentials map[string]syntax.Path     // where a client id, key or token was first seen
	mappings    map[string]*market.Mapping // by the fields that they were compiled from
}

// Compile judges the document and builds the exchange. The error is *Problems,
// with every mistake.
func (s *Source) Compile() (*Compiled, error) {
	c := &compiler{
		source: s,
		out: &Compiled{
			Document: s.Document,
			Catalog: &market.Catalog{
				Suppliers: make(map[market.SupplierID]*market.Supplier, len(s.Document.Suppliers)),
				Buyers:    make(map[market.BuyerID]*market.Buyer, len(s.Document.Buyers)),
				Campaigns: make(map[market.CampaignID]*market.Campaign, len(s.Document.Campaigns)),
				Lists:     make(map[market.ListID]*market.SuppressionList, len(s.Document.Lists)),
			},
		},
		zones:       make(map[string]*time.Location),
		buyers:      make(map[string]*compiledBuyer, len(s.Document.Buyers)),
		credentials: make(map[string]syntax.Path),
		mappings:    make(map[string]*market.Mapping),
	}
	c.compileDocument(s.Document)
	if err := c.problems.Err(); err != nil {
		return nil, err
	}
	c.out.Canonical = canonical.Encode(s.Document)
	if message := syntax.ExceededLimit(c.out.Canonical); message != "" {
		return nil, syntax.Problems{{File: s.Path, Message: "with its defaults written out the document " + message}}.Err()
	}
	return c.out, nil
}

func (c *compiler) compileDocument(d *schema.Document) {
	c.compileSettings(d)
	for i := range d.Lists {
		c.compileList(syntax.Path("suppression_lists").Index(i), &d.Lists[i])
	}
	for i := range d.Suppliers {
		c.compileSupplier(syntax.Path("suppliers").Index(i), &d.Suppliers[i])
	}
	for i := range d.Buyers {
		c.compileBuyer(syntax.Path("buyers").Index(i), &d.Buyers[i])
	}
	for i := range d.Campaigns {
		c.compileCampaign(syntax.Path("campaigns").Index(i), &d.Campaigns[i])
	}
	c.checkOverlaps(d.Campaigns)
}

// report reports a mistake in words that hold nothing of the value.
func (c *compiler) report(at syntax.Path, message string) {
	c.problems = append(c.problems, c.problemAt(at, message))
}

// problemAt is a message with its place.
func (c *compiler) problemAt(at syntax.Path, message string) syntax.Problem {
	found, _ := c.source.find(at)
	return syntax.Problem{File: c.source.Path, Line: found.Line, Column: found.Column, Path: string(at), Message: message}
}

// reportQuoting reports a mistake in words that may hold the value. Where it came
// out of the environment they are withheld.
func (c *compiler) reportQuoting(at syntax.Path, message string) {
	found, _ := c.source.find(at)
	if found.HasVariables() {
		message = "what the environment gives here does not fit; see the documentation of this key"
	}
	c.report(at, message)
}

// Export writes the exchange as YAML.
func (x *Compiled) Export() []byte {
	out, err := canonical.Export(x.Canonical)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return out
}
