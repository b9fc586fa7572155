package market

// Dialect is how an endpoint is spoken to that does not speak the contract, and
// how its answers are read. It is plain text throughout, compares by ==, and
// holds no secret: an intent that is logged with it can be sent and understood
// after a restart, whatever the configuration says by then.
//
// What an adapter's author wrote was judged when it was configured. A logged
// dialect may be older than a rule, so whoever speaks it trusts it no further
// than any other address out of the log.
type Dialect struct {
	Method      string // POST, PUT, PATCH; GET carries the body as the query
	ContentType string // of the body, as its header has it
	Headers     string // fixed ones: a line "Name: value\n" each
	KeyHeader   string // header that carries the Idempotency-Key; empty: none does
	Idempotent  bool   // a repeat does no harm: the endpoint knows a lead again
	Reading     Reading
}

// The forms of a body or of an answer.
const (
	FormatJSON = "json"
	FormatForm = "form" // application/x-www-form-urlencoded
	FormatXML  = "xml"
)

// Reading says where in an answer to find what. A place is, by the format,
//
//	json   member names with dots between, numbers for items of a list: data.offers.0.price
//	form   the name of a parameter: price
//	xml    element names from the root on, with slashes, an attribute last: Response/Bid/@price
//
// An empty place is not looked at.
type Reading struct {
	Format string // of the answer

	Accepted string // the value that says yes or no; empty: a ping with a price is a bid
	Yes      string // values that mean yes, a line each; case does not count
	No       string // values that mean no; empty: every other does
	Price    string
	Currency string
	Token    string // empty: our auction id is the bid's token
	ID       string // the buyer's own id of the lead
	Reason   string // why not
}
