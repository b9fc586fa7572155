package dial

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

var (
	errForbidden = errors.New("address outside the trusted networks")
	errInterim   = errors.New("interim answers without end")
)

// connectFault names why there is no TCP connection.
func connectFault(err error) market.Fault {
	var unresolved *net.DNSError
	switch {
	case errors.Is(err, errForbidden):
		return market.FaultForbidden
	case errors.As(err, &unresolved):
		return market.FaultResolve
	}
	return market.FaultConnect
}

// dialFault names why the pool gave no connection. Where dial had no part in
// it, the pool is full and the wait for a place in it was over.
func dialFault(err error) market.Fault {
	var failed *dialError
	if errors.As(err, &failed) {
		return failed.fault
	}
	return market.FaultConnectionLimit
}

// tripFault names why a connection gave no whole answer.
func tripFault(err error) market.Fault {
	var timed net.Error
	var head *fasthttp.ErrSmallBuffer
	switch {
	case errors.Is(err, fasthttp.ErrTimeout), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		return market.FaultTimeout
	case errors.Is(err, fasthttp.ErrBodyTooLarge), errors.As(err, &head):
		return market.FaultTooLarge
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return market.FaultBroken
	}
	return market.FaultUnreadable
}
