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
	errForbidden = errors.New("the endpoint's address is neither public with TLS nor in trusted_networks")
	errInterim   = errors.New("the endpoint sent too many 1xx answers without a final one")
)

// faultOfConnect classifies the error of a TCP connection that could not be opened.
func faultOfConnect(err error) market.OutboundRequestFault {
	var unresolved *net.DNSError
	switch {
	case errors.Is(err, errForbidden):
		return market.FaultForbidden
	case errors.As(err, &unresolved):
		return market.FaultResolve
	}
	return market.FaultConnect
}

// faultOfAcquireConn classifies the error of a request that got no connection. If the dialer did not
// fail, all connections were in use until the wait ended.
func faultOfAcquireConn(err error) market.OutboundRequestFault {
	var failed *dialError
	if errors.As(err, &failed) {
		return failed.fault
	}
	return market.FaultConnectionLimit
}

// faultOfSendOrRead classifies the error of writing a request, or of reading its answer if that is incomplete.
func faultOfSendOrRead(err error) market.OutboundRequestFault {
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
