package exchange

import (
	"fmt"
	"net/http"
	"strings"

	"pingpost/api/contract"
)

// breaches are what went over the wire and is not as the OpenAPI document has it. TestMain
// tells them at the end: traffic may come when its test is over.
var breaches lines

// holding is a client's way out on which every exchange is held against the OpenAPI document of
// its address.
func holding(base http.RoundTripper) *contract.Transport {
	return &contract.Transport{Base: base, Report: func(err error) { fmt.Fprintln(&breaches, err) }}
}

// holds holds what a buyer is sent against the document.
func (b *taker) holds(r *http.Request, body []byte) {
	for _, what := range [...]string{"ping", "post"} {
		if !strings.HasSuffix(r.URL.Path, "/v1/"+what) {
			continue
		}
		if err := contract.Public().CheckWebhookRequest("buyer."+what, &contract.Request{Header: r.Header, Body: body}); err != nil {
			fmt.Fprintln(&breaches, err)
		}
	}
}
