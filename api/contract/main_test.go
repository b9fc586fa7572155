package contract_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"pingpost/api/contract"
)

// fakeTests request one path and succeed.
type fakeTests string

func (a fakeTests) Run() int {
	if res, err := http.Get(string(a)); err == nil {
		res.Body.Close()
	}
	return 0
}

// Tests that succeed must fail if their traffic contradicts the document.
func TestHold(t *testing.T) {
	defer func(before http.RoundTripper) { http.DefaultClient.Transport = before }(http.DefaultClient.Transport)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer server.Close()
	for path, want := range map[string]int{"/v1/leads/lead_1": 1, "/elsewhere": 0} {
		if code := contract.RunTests(fakeTests(server.URL + path)); code != want {
			t.Errorf("%s: code %d, want %d", path, code, want)
		}
	}
}
