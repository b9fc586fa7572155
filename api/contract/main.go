package contract

import (
	"fmt"
	"net/http"
	"os"
	"sync"
)

// RunTests runs a package's tests for TestMain. It checks all traffic of http.DefaultClient
// against the documents, prints the findings, and returns the exit code.
func RunTests(tests interface{ Run() int }) (code int) {
	var mu sync.Mutex
	broken := false
	http.DefaultClient.Transport = &Transport{
		Base: http.DefaultTransport, Report: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(os.Stderr, err)
			broken = true
		},
	}
	if code = tests.Run(); broken {
		code = 1
	}
	return code
}
