package contract_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"pingpost/api/contract"
)

// asking is tests that ask for one path and are content.
type asking string

func (a asking) Run() int {
	if res, err := http.Get(string(a)); err == nil {
		res.Body.Close()
	}
	return 0
}

// TestHold: tests that are content fail where what they heard is not in the document.
func TestHold(t *testing.T) {
	defer func(before http.RoundTripper) { http.DefaultClient.Transport = before }(http.DefaultClient.Transport)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer server.Close()
	for path, want := range map[string]int{"/v1/leads/lead_1": 1, "/elsewhere": 0} {
		if code := contract.Hold(asking(server.URL + path)); code != want {
			t.Errorf("%s: code %d, want %d", path, code, want)
		}
	}
}
