package child

import (
	"errors"
	"net"
	"net/http"
	"runtime/pprof"
	"time"

	"pingpost/loadtest/ceiling"
	"pingpost/wal"
)

// CeilingSpec describes a ceiling: for auctions with a Timeout, otherwise for ingest.
type CeilingSpec struct {
	Dir string // of its log; optional for auctions
	ceiling.Options
}

func startCeiling(spec *CeilingSpec) (at Addresses, stop func() error, err error) {
	server, closing, err := spec.newServer()
	if err != nil {
		return at, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return at, nil, err
	}
	admin, err := serveHeapProfile()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	return Addresses{Listen: listener.Addr().String(), Admin: admin}, func() error {
		return errors.Join(server.Shutdown(), <-ended, closing())
	}, err
}

func (s *CeilingSpec) newServer() (server *ceiling.Server, closing func() error, err error) {
	var log *wal.Log
	closing = func() error { return nil }
	if s.Dir != "" {
		if log, err = wal.Open(s.Dir, wal.Options{}); err != nil {
			return nil, nil, err
		}
		closing = log.Close
	}
	if s.Timeout > 0 {
		return ceiling.NewAuction(log, &s.Options), closing, nil
	}
	return ceiling.NewIngest(log, &s.Options), closing, nil
}

// HeapPath is the admin path of the heap profile in text form.
const HeapPath = "/debug/pprof/heap"

// serveHeapProfile serves the heap profile of a ceiling, at the same path as the exchange
// does.
func serveHeapProfile() (addr string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc(HeapPath, func(w http.ResponseWriter, _ *http.Request) {
		_ = pprof.Lookup("heap").WriteTo(w, 1) // the client may be gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until the process ends
	return listener.Addr().String(), nil
}
