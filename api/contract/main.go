package contract

import (
	"fmt"
	"net/http"
	"os"
	"sync"
)

// Hold runs a package's tests with all that they ask of an exchange by
// http.DefaultClient, and hear from it, held against the documents; what differs is
// printed. It returns the exit code for TestMain.
func Hold(tests interface{ Run() int }) (code int) {
	var mu sync.Mutex
	broken := false
	http.DefaultClient.Transport = &Transport{
		Base: http.DefaultTransport, Tell: func(err error) {
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
