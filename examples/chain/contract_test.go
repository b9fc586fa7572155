package chain_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"pingpost/api/contract"
)

// TestMain holds all that the tests ask of an exchange, and hear from it, against the
// OpenAPI document.
func TestMain(m *testing.M) {
	var mu sync.Mutex
	broken := false
	http.DefaultClient.Transport = &contract.Transport{
		Base: http.DefaultTransport, Looks: func(r *http.Request) bool { return contract.IsPublic(r.URL.Path) },
		Tell: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Println(err)
			broken = true
		},
	}
	code := m.Run()
	if broken {
		code = 1
	}
	os.Exit(code)
}
