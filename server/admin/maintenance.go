package admin

import (
	"fmt"
	"net/http/pprof"
	profiles "runtime/pprof"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// BackupController makes the running backup ship new data at once, and reports its progress. The
// exchange implements it.
type BackupController interface {
	// RequestBackupNow starts shipping now, without waiting for the next interval or retry. It returns
	// false if no backup is configured or the exchange is not ready.
	RequestBackupNow() bool
	BackupStatus() BackupStatus
}

// BackupStatus is the progress of the backup, in JSON.
type BackupStatus struct {
	Configured bool    `json:"configured"`
	Shipped    uint64  `json:"shipped_seq"` // last log entry that it contains
	Lag        float64 `json:"lag_s"`       // seconds of data that the loss of the disk would destroy
	LastError  *string `json:"last_error"`  // null: no error
}

func (a *Admin) getBackupStatus(*fasthttp.RequestCtx) (answer any, err error) {
	return a.exchange.BackupStatus(), nil
}

func (a *Admin) requestBackupNow(ctx *fasthttp.RequestCtx) (answer any, err error) {
	at := time.Now().UTC()
	if !a.exchange.RequestBackupNow() {
		return nil, httperror.New(409, errcode.Conflict, "No backup is configured. Start the exchange with --backup-to and the destination.")
	}
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	return map[string]any{"wanted_at": at}, nil
}

// getStateHash answers with a hash of the exchange's whole state and the log entry to which it
// belongs. Two copies of an exchange with equal hashes have equal states.
func (a *Admin) getStateHash(ctx *fasthttp.RequestCtx) (answer any, err error) {
	seq, hash, err := a.exchange.StateHash()
	if err != nil {
		return nil, err
	}
	return struct {
		Seq  uint64 `json:"seq"`
		Hash string `json:"hash"`
	}{seq, fmt.Sprintf("%016x", hash)}, nil
}

var errProfile = httperror.New(503, errcode.Unavailable, "The profile failed; another one may be running. Send this request again after the time in Retry-After.")

// serveGoProfile serves the Go runtime's profiles (pprof). It replaces the library's error
// answers by errors in the form of the API.
func (a *Admin) serveGoProfile(ctx *fasthttp.RequestCtx) {
	switch name := payload.PathParameter(ctx, "name"); {
	case name == "profile":
		fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Profile)(ctx)
	case name == "trace":
		fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Trace)(ctx)
	case name == "", profiles.Lookup(name) != nil:
		fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Index)(ctx)
	default: // including the command line, which may contain secrets
		a.sendError(ctx, httperror.NotFound)
		return
	}
	switch status := ctx.Response.StatusCode(); {
	case status >= fasthttp.StatusInternalServerError:
		ctx.Response.Reset() // discards the library's answer
		a.sendError(ctx, errProfile)
	case status >= fasthttp.StatusBadRequest:
		ctx.Response.Reset()
		a.sendError(ctx, httperror.InvalidPayload, market.FieldError{Field: "seconds", Code: errcode.FieldInvalidFormat, Expected: "a number of seconds, for a profile that has a duration, and no debug beside it"})
	}
}
