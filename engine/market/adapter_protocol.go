package market

import "fmt"

// AdapterProtocol describes the requests and answers of a buyer's endpoint that does not implement the
// exchange's buyer contract. It is plain text, compares by ==, and holds no secret. It is logged
// with each post. So a post can be sent, and its answer read, after a restart and after a change
// of the configuration.
//
// The configuration checks an adapter protocol. A logged adapter protocol may be older than a check, so
// the sender trusts it no more than any other logged address.
type AdapterProtocol struct {
	Method      string // POST, PUT, PATCH; GET carries the body as the query
	ContentType string // of the body, for its header
	Headers     string // fixed ones: a line "Name: value\n" each
	KeyHeader   string // header that carries the Idempotency-Key; empty: none
	Idempotent  bool   // the buyer certifies that it answers a repeat as it answered the first post
	Answer      BuyerAnswerValuePaths
}

// The forms of a body or of an answer.
const (
	FormatJSON = "json"
	FormatForm = "form" // application/x-www-form-urlencoded
	FormatXML  = "xml"
)

// BuyerAnswerValuePaths says where in a buyer's answer its values are found. Format determines the form of
// a path:
//
//	json   member names with dots between, numbers for items of a list: data.offers.0.price
//	form   the name of a parameter: price
//	xml    element names from the root on, with slashes, an attribute last: Response/Bid/@price
//
// A value with an empty path is not read.
type BuyerAnswerValuePaths struct {
	Format string // of the answer

	Accepted string // path of the value that means yes or no; empty: a ping answer with a price is a bid
	Yes      string // values that mean yes, one per line; compared without case
	No       string // values that mean no; empty: all others
	Price    string
	Currency string
	Token    string // empty: our auction id is the bid's token
	ID       string // the buyer's own id of the lead
	Reason   string // for a refusal
}

// BodyTemplate writes the bodies of pings or posts for an endpoint that does not implement the
// buyer contract. The operator configures the template. Package adapter implements the interface.
type BodyTemplate interface {
	// AppendPing appends the body of a ping, or returns dst and false if the body is too
	// large. The mapping has filled the lead.
	AppendPing(dst []byte, m *FieldMapping, l *Lead, metadata BuyerPingMetadata) (body []byte, withinLimit bool)

	// AppendPost appends the body of a post, with the same results as AppendPing.
	AppendPost(dst []byte, m *FieldMapping, l *Lead, metadata BuyerPostMetadata) (body []byte, withinLimit bool)

	// Check returns the mistakes that make the template unusable for the campaign.
	Check(m *FieldMapping) (mistakes []TemplateError)
}

// TemplateError is one mistake in an operator's template, for the operator.
type TemplateError struct {
	Line    int    // of the template, from 1
	Message string // the mistake and its remedy
}

func (e *TemplateError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// TextPointersInEncodingOrder returns pointers to all texts of the adapter protocol, for encoding and
// decoding. Their order is that of the log and of snapshots and never changes.
func (d *AdapterProtocol) TextPointersInEncodingOrder() [13]*string {
	return [...]*string{
		&d.Method, &d.ContentType, &d.Headers, &d.KeyHeader,
		&d.Answer.Format, &d.Answer.Accepted, &d.Answer.Yes, &d.Answer.No,
		&d.Answer.Price, &d.Answer.Currency, &d.Answer.Token, &d.Answer.ID, &d.Answer.Reason,
	}
}
