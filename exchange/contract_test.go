package exchange

import (
	"fmt"
	"net/http"
	"strings"

	"pingpost/api/contract"
)

// contractErrors are the differences between traffic and the OpenAPI documents. TestMain reports
// them, because traffic may end after its test.
var contractErrors logBuffer

// checkingTransport returns a transport that checks all traffic against the OpenAPI documents.
func checkingTransport(base http.RoundTripper) *contract.Transport {
	return &contract.Transport{Base: base, Report: func(err error) { fmt.Fprintln(&contractErrors, err) }}
}

// checkContract checks a request to a buyer against the OpenAPI document.
func (b *fakeBuyer) checkContract(r *http.Request, body []byte) {
	for _, kind := range [...]string{"ping", "post"} {
		if !strings.HasSuffix(r.URL.Path, "/v1/"+kind) {
			continue
		}
		if err := contract.Public().CheckWebhookRequest("buyer."+kind, &contract.Request{Header: r.Header, Body: body}); err != nil {
			fmt.Fprintln(&contractErrors, err)
		}
	}
}
