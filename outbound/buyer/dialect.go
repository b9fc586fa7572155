package buyer

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// dialect is how an endpoint is spoken to that does not speak the contract:
// market.Dialect, judged and taken apart. An account that speaks the contract
// has none.
type dialect struct {
	method, contentType, accept string
	headers                     []header
	keyHeader                   string
	reading                     reading
}

type header struct{ name, value string }

// openDialect takes a dialect apart. It was judged when it was configured, but a
// logged intent may be older than the check; the fault is FaultEndpoint.
func openDialect(e *market.Endpoint) (*dialect, market.Fault) {
	from := e.Dialect
	d := &dialect{
		method: from.Method, contentType: from.ContentType,
		keyHeader: from.KeyHeader,
	}
	switch from.Method {
	case fasthttp.MethodPost, fasthttp.MethodPut, fasthttp.MethodGet:
	default:
		return nil, market.FaultEndpoint
	}
	if from.ContentType == "" || !isPrintable(from.ContentType) {
		return nil, market.FaultEndpoint
	}
	for line := range strings.Lines(from.Headers) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok || !fixable(name, e) || !isPrintable(value) {
			return nil, market.FaultEndpoint
		}
		d.headers = append(d.headers, header{name, value})
	}
	if k := from.KeyHeader; k != "" && !strings.EqualFold(k, "Idempotency-Key") && !fixable(k, e) {
		return nil, market.FaultEndpoint
	}
	var ok bool
	if d.reading, ok = openReading(&from.Answer); !ok {
		return nil, market.FaultEndpoint
	}
	d.accept = accepts[from.Answer.Format]
	return d, market.FaultNone
}

var accepts = map[string]string{
	market.FormatJSON: "application/json",
	market.FormatForm: "application/x-www-form-urlencoded, text/plain",
	market.FormatXML:  "application/xml, text/xml",
}

// fixable tells whether a dialect may set the header: it means nothing to HTTP
// itself, and is not the one that shows who the exchange is.
func fixable(name string, e *market.Endpoint) bool {
	_, own := ownHeaders[strings.ToLower(name)]
	return !own && isToken(name) && !(e.Credential != "" && strings.EqualFold(name, e.Header))
}

// appendQuery appends a form to an address's own query.
func appendQuery(dst []byte, path string, form []byte) []byte {
	joint := byte('?')
	if strings.Contains(path, "?") {
		joint = '&'
	}
	return append(append(dst, joint), form...)
}
