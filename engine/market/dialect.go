package market

import "fmt"

// Dialect describes requests and answers of an endpoint that does not speak the contract.
// It is plain text, compares by ==, and holds no secret. So a logged post can be sent and
// its answer read after a restart, independent of the current configuration.
//
// The configuration checks the author's text. A logged dialect may be older than a check,
// so the sender trusts it no more than any other logged address.
type Dialect struct {
	Method      string // POST, PUT, PATCH; GET carries the body as the query
	ContentType string // of the body, for its header
	Headers     string // fixed ones: a line "Name: value\n" each
	KeyHeader   string // header that carries the Idempotency-Key; empty: none
	Idempotent  bool   // the buyer certifies that it answers a repeat as it answered the first post
	Answer      AnswerPaths
}

// The forms of a body or of an answer.
const (
	FormatJSON = "json"
	FormatForm = "form" // application/x-www-form-urlencoded
	FormatXML  = "xml"
)

// AnswerPaths gives the places of the values in an answer. A place is, by the format,
//
//	json   member names with dots between, numbers for items of a list: data.offers.0.price
//	form   the name of a parameter: price
//	xml    element names from the root on, with slashes, an attribute last: Response/Bid/@price
//
// An empty place is not read.
type AnswerPaths struct {
	Format string // of the answer

	Accepted string // place of the value for yes or no; empty: a ping with a price is a bid
	Yes      string // values that mean yes, a line each; case does not count
	No       string // values that mean no; empty: all others
	Price    string
	Currency string
	Token    string // empty: our auction id is the bid's token
	ID       string // the buyer's own id of the lead
	Reason   string // for a refusal
}

// BodyTemplate writes the bodies of one endpoint that does not speak the contract, from
// its operator's template. Package adapter implements it.
type BodyTemplate interface {
	// AppendPing appends the body of a ping, or returns dst and false if the body is too
	// large. The mapping has filled the lead.
	AppendPing(dst []byte, m *Mapping, l *Lead, header PingMetadata) (body []byte, ok bool)

	// AppendPost appends the body of a post, with the same results as AppendPing.
	AppendPost(dst []byte, m *Mapping, l *Lead, header PostMetadata) (body []byte, ok bool)

	// Check returns the mistakes that make the template unusable for the campaign.
	Check(m *Mapping) []TemplateError
}

// TemplateError is one mistake in a template.
type TemplateError struct {
	Line    int    // of the template, from 1
	Message string // what is wrong, and what to do
}

func (e *TemplateError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }
