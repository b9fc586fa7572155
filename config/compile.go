package config

import (
	"net/netip"
	"time"

	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// CompiledDocument is the result of checking and compiling a configuration document, ready for an
// exchange.
type CompiledDocument struct {
	Settings Settings
	Catalog  *market.Catalog // with zero Refs and Version; the engine assigns them when it applies the catalog
	Initial  InitialValues
	Document *schema.Document // with defaults; has the values that the catalog does not have

	// Canonical is the document as JSON, with defaults and without secrets. Equivalent
	// documents have the same bytes, and reading the bytes gives the same bytes again. The
	// exchange logs, compares and exports this form.
	Canonical []byte

	// Unset are the variables without a value here. Only a document that is read for an
	// exchange can have them, because the exchange may have sealed the values.
	Unset []UnsetEnvironmentVariable

	// Warnings report values that are allowed but probably a mistake.
	Warnings syntax.Problems
}

// compiler checks one document and builds its catalog. After a mistake it continues with a
// value that causes no further messages, so that one run reports all mistakes.
//
// It looks up references in maps that it builds once. Its work therefore grows with the
// length of the document, not with the product of its parts.
type compiler struct {
	source   *ParsedDocument
	problems syntax.Problems
	out      *CompiledDocument
	networks []netip.Prefix
	zones    map[string]*time.Location // nil value: not a time zone

	buyers      map[string]*buyerForCampaignCompilation
	credentials map[string]syntax.KeyPath       // first place of each client id, key or token
	mappings    map[string]*market.FieldMapping // by their fields as JSON
}

// Compile checks the document and compiles it. The error is *syntax.Problems with all mistakes in
// the document.
func (s *ParsedDocument) Compile() (*CompiledDocument, error) {
	c := &compiler{
		source: s,
		out: &CompiledDocument{
			Document: s.Document,
			Catalog: &market.Catalog{
				Suppliers: make(map[market.SupplierID]*market.Supplier, len(s.Document.Suppliers)),
				Buyers:    make(map[market.BuyerID]*market.Buyer, len(s.Document.Buyers)),
				Campaigns: make(map[market.CampaignID]*market.Campaign, len(s.Document.Campaigns)),
				Lists:     make(map[market.ListID]*market.SuppressionListDefinition, len(s.Document.Lists)),
			},
		},
		zones:       make(map[string]*time.Location),
		buyers:      make(map[string]*buyerForCampaignCompilation, len(s.Document.Buyers)),
		credentials: make(map[string]syntax.KeyPath),
		mappings:    make(map[string]*market.FieldMapping),
	}
	c.compileDocument(s.Document)
	if err := c.problems.Err(); err != nil {
		return nil, err
	}
	c.out.Canonical = canonical.Encode(s.Document)
	if message := syntax.DescribeExceededLimit(c.out.Canonical); message != "" {
		return nil, syntax.Problems{{File: s.Path, Message: "with all defaults written out, the document " + message}}.Err()
	}
	return c.out, nil
}

func (c *compiler) compileDocument(d *schema.Document) {
	c.compileSettings(d)
	for i := range d.Lists {
		c.compileSuppressionList(syntax.KeyPath("suppression_lists").Index(i), &d.Lists[i])
	}
	for i := range d.Suppliers {
		c.compileSupplier(syntax.KeyPath("suppliers").Index(i), &d.Suppliers[i])
	}
	for i := range d.Buyers {
		c.compileBuyer(syntax.KeyPath("buyers").Index(i), &d.Buyers[i])
	}
	for i := range d.Campaigns {
		c.compileCampaign(syntax.KeyPath("campaigns").Index(i), &d.Campaigns[i])
	}
	c.checkOverlappingPingCampaigns(d.Campaigns)
	c.warnDuplicateGroups(d.Campaigns)
}

// reportMistake adds a mistake to the compiler's problems. The message must not contain the
// value, which may be a secret.
func (c *compiler) reportMistake(at syntax.KeyPath, message string) {
	c.problems = append(c.problems, c.newProblemAt(at, message))
}

// newProblemAt returns a problem with this message at the position of the path in the document.
func (c *compiler) newProblemAt(at syntax.KeyPath, message string) syntax.Problem {
	found, _ := c.source.findNode(at)
	return syntax.Problem{File: c.source.Path, Line: found.Line, Column: found.Column, Path: string(at), Message: message}
}

// reportMistakeHidingEnvironmentValue adds a mistake whose message quotes the value. If the value comes
// from the environment, it may be a secret, and a general message replaces this one.
func (c *compiler) reportMistakeHidingEnvironmentValue(at syntax.KeyPath, message string) {
	found, _ := c.source.findNode(at)
	if found.HasVariables() {
		message = "the value from the environment is not valid; see this key in docs/configuration.md"
	}
	c.reportMistake(at, message)
}

// ExportYAML returns the document as YAML, with references to environment variables in place of
// secrets.
func (x *CompiledDocument) ExportYAML() []byte {
	out, err := canonical.ExportYAML(x.Canonical)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return out
}
