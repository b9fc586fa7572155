package buyer

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/buyer/reading"
)

// validatedAdapter is the validated form of market.AdapterProtocol: how to send requests to an endpoint that
// does not follow the exchange's contract, and how to read its answers. A buyer endpoint that follows
// the contract has a nil adapter protocol.
type validatedAdapter struct {
	method, contentType, accept string
	headers                     []fixedHeader
	keyHeader                   string
	rules                       reading.AnswerRules
}

type fixedHeader struct{ name, value string }

// validateAdapter validates the adapter protocol of the endpoint, and returns FaultEndpoint if it is
// invalid. Configurations are validated, but a delivery in the log may have an endpoint that
// predates the validation.
func validateAdapter(settings *market.OutboundEndpoint) (*validatedAdapter, market.OutboundRequestFault) {
	from := settings.AdapterProtocol
	d := &validatedAdapter{
		method: from.Method, contentType: from.ContentType,
		keyHeader: from.KeyHeader,
	}
	switch from.Method {
	case fasthttp.MethodPost, fasthttp.MethodPut, fasthttp.MethodGet:
	default:
		return nil, market.FaultEndpoint
	}
	if from.ContentType == "" || !isPrintableASCII(from.ContentType) {
		return nil, market.FaultEndpoint
	}
	for line := range strings.Lines(from.Headers) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok || !mayAdapterSetHeader(name, settings) || !isPrintableASCII(value) {
			return nil, market.FaultEndpoint
		}
		d.headers = append(d.headers, fixedHeader{name, value})
	}
	if k := from.KeyHeader; k != "" && !strings.EqualFold(k, "Idempotency-Key") && !mayAdapterSetHeader(k, settings) {
		return nil, market.FaultEndpoint
	}
	var ok bool
	if d.rules, ok = reading.New(&from.Answer); !ok {
		return nil, market.FaultEndpoint
	}
	d.accept = acceptHeaders[from.Answer.Format]
	return d, market.FaultNone
}

var acceptHeaders = map[string]string{
	market.FormatJSON: "application/json",
	market.FormatForm: "application/x-www-form-urlencoded, text/plain",
	market.FormatXML:  "application/xml, text/xml",
}

// mayAdapterSetHeader reports whether an adapter protocol may set the header with this name. It may not set
// the exchange's own headers or the header of the endpoint's credential.
func mayAdapterSetHeader(name string, e *market.OutboundEndpoint) bool {
	_, own := reservedHeaders[strings.ToLower(name)]
	return !own && isHeaderName(name) && !(e.Credential != "" && strings.EqualFold(name, e.Header))
}

// appendFormAsQuery appends a URL-encoded form to dst, which ends with path. It joins both with
// "?" or, if the path already has a query, with "&".
func appendFormAsQuery(dst []byte, pathInDst string, form []byte) []byte {
	joint := byte('?')
	if strings.Contains(pathInDst, "?") {
		joint = '&'
	}
	return append(append(dst, joint), form...)
}
