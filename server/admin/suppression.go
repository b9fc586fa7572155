package admin

import (
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/admin/payload"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// SuppressionListStore reads and replaces the entries of suppression lists. The exchange
// implements it. The entries are state: operators can replace them even if a file configures
// the list itself.
type SuppressionListStore interface {
	// SuppressionLists returns the lists of the current configuration.
	SuppressionLists() ([]SuppressionList, error)
	// ApplySuppressionUpload reads all lines and then replaces the entries of a list by them; with
	// upload.Add it adds them. After an error the list is unchanged. The error may be BadLinesError,
	// ErrUploadTooLong, engine.ErrNotFound, engine.ErrConflict, or the reader's own.
	ApplySuppressionUpload(upload *SuppressionUpload) (*SuppressionUploadResult, error)
}

// SuppressionList describes a suppression list and its entries, in JSON.
type SuppressionList struct {
	ID       string     `json:"id"`
	Field    string     `json:"field"`
	Hash     string     `json:"hash"`
	Entries  uint64     `json:"entries"`
	LoadedAt *time.Time `json:"loaded_at"`
	Source   *string    `json:"source"` // file or upload; null: empty list
	Owner    string     `json:"owner"`  // of the list itself, not of its contents
}

// SuppressionUpload is an operator's request to replace a suppression list's entries, or to add some.
type SuppressionUpload struct {
	List  market.ListID
	Lines io.Reader
	Add   bool
	By    string
}

// SuppressionUploadResult is the result of an upload to a suppression list, in JSON.
type SuppressionUploadResult struct {
	Entries    uint64 `json:"entries"`    // entries of the list
	Duplicates uint64 `json:"duplicates"` // lines that repeat an entry of the list or of an earlier line
	Skipped    uint64 `json:"skipped"`    // empty lines and comments
}

// BadLinesError is the error for an upload with invalid lines. It lists the first of them by number
// and does not quote them.
type BadLinesError []BadLine

// BadLine is the number of an invalid line in an upload, with the reason.
type BadLine struct {
	Number int // from 1
	Why    string
}

func (b BadLinesError) Error() string {
	return "line " + strconv.Itoa(b[0].Number) + " of the uploaded suppression list is invalid: " + b[0].Why
}

// ErrUploadTooLong means that an upload has more entries than the limit, which bounds its memory.
var ErrUploadTooLong = errors.New("the suppression list has too many entries")

func (a *Admin) listSuppressionLists(ctx *fasthttp.RequestCtx) (answer any, err error) {
	lists, err := a.exchange.SuppressionLists()
	if err != nil {
		return nil, err
	}
	return map[string]any{"lists": append([]SuppressionList{}, lists...)}, nil
}

// uploadSuppressionList replaces or, with ?mode=add, extends a suppression list by the lines in the
// request's body. Only one upload runs at a time, because it may need as much memory as the largest
// list.
func (a *Admin) uploadSuppressionList(ctx *fasthttp.RequestCtx) {
	mode := string(ctx.QueryArgs().Peek("mode"))
	if mode != "" && mode != "replace" && mode != "add" {
		a.sendError(ctx, httperror.InvalidPayload, market.FieldError{Field: "mode", Code: errcode.FieldNotAllowedValue, Expected: "replace or add"})
		return
	}
	if a.allowOrRejectExpectedBody(ctx, maxUpload, errListTooLarge) {
		return
	}
	length := ctx.Request.Header.ContentLength()
	if length > maxUpload {
		a.sendError(ctx, errListTooLarge)
		return
	}
	if length == 0 || ctx.RequestBodyStream() == nil {
		a.sendError(ctx, httperror.InvalidPayload, market.FieldError{Field: "body", Code: errcode.FieldMissingRequired, Expected: "a value or a hash a line; one line with # alone empties the list"})
		return
	}
	if !a.uploading.startUpload(ctx.Conn()) {
		a.sendError(ctx, errUploadUnderWay)
		return
	}
	defer a.uploading.finishUpload()
	id := payload.PathParameter(ctx, "id")
	lines := &uploadBodyReader{from: request.TrailerRejectingReader{Ctx: ctx, Fields: request.CountChunkedHeaderFields(&ctx.Request.Header)}, conn: ctx.Conn(), tcp: connection.FromRequest(ctx), length: length, until: time.Now().Add(uploadLongest)}
	lines.isStillValid = func() bool { return a.checkCallerStillValid(ctx).Status == 0 }
	done, err := a.exchange.ApplySuppressionUpload(&SuppressionUpload{List: market.ListID(strings.Clone(id)), Lines: lines, Add: mode == "add", By: callerNameOf(ctx)})
	if lines.ended {
		ctx.SetUserValue(payload.BodyRead, []byte{})
	}
	if err != nil {
		a.sendUploadError(ctx, lines, err)
		return
	}
	payload.SendJSON(ctx, done)
}

func (a *Admin) sendUploadError(ctx *fasthttp.RequestCtx, lines *uploadBodyReader, err error) {
	var bad BadLinesError
	switch {
	case errors.As(err, &bad):
		fields := make([]market.FieldError, 0, len(bad))
		for _, line := range bad {
			fields = append(fields, market.FieldError{Field: "line " + strconv.Itoa(line.Number), Code: errcode.FieldInvalidFormat, Expected: line.Why})
		}
		a.sendError(ctx, httperror.New(422, errcode.InvalidPayload, "The list is unchanged, because field_errors lists invalid lines. Send one value or one hash per line."), fields...)
	case errors.Is(err, ErrUploadTooLong), errors.Is(err, errUploadBytes):
		a.sendError(ctx, errListTooLarge)
	case errors.Is(lines.broken, errUploaderInvalid):
		who := principalFrom(ctx)
		a.sendError(ctx, who.invalidCallerError())
	case lines.broken != nil:
		a.sendError(ctx, request.ErrorOfFailedRead(lines.broken))
	default:
		a.sendAsAPIError(ctx, err)
	}
	lines.discardSomeOfRest()
}

const (
	maxUpload     = 4 << 30                // bytes
	uploadPause   = operatorRequestTimeout // most time between two bytes
	uploadLongest = 6 * time.Hour          // from first to last byte
)

var (
	errUploadBytes     = errors.New("the suppression list has too many bytes")
	errUploaderInvalid = errors.New("the uploader's session, token or account is no longer valid")
)

const uploadCheckEvery = time.Second // interval of checks whether the caller is still valid

// uploadBodyReader reads the body of an upload. That may take hours, as long as bytes arrive. The HTTP
// library reports a broken connection like the end of the body; uploadBodyReader tells them apart by
// the announced length, or for a chunked body by a failed read of the connection.
type uploadBodyReader struct {
	from         io.Reader
	conn         net.Conn
	tcp          *connection.LimitedConn
	length       int // -1: chunked
	read         int
	until        time.Time
	isStillValid func() bool // whether the caller is still valid
	checkedAt    time.Time   // time of the last check
	ended        bool
	broken       error
}

func (u *uploadBodyReader) Read(p []byte) (int, error) {
	switch {
	case u.broken != nil:
		return 0, u.broken
	case u.ended || u.from == nil:
		u.ended = true
		return 0, io.EOF
	}
	deadline := time.Now().Add(uploadPause)
	if deadline.After(u.until) {
		deadline = u.until
	}
	if err := u.conn.SetReadDeadline(deadline); err != nil {
		u.broken = err
		return 0, err
	}
	n, err := u.from.Read(p)
	u.read += n
	left := false
	if now := time.Now(); err != nil || now.Sub(u.checkedAt) >= uploadCheckEvery {
		u.checkedAt, left = now, !u.isStillValid()
	}
	switch {
	case left:
		u.broken = errUploaderInvalid
	case u.read > maxUpload:
		u.broken = errUploadBytes
	case errors.Is(err, io.EOF) && (u.length >= 0 && u.read < u.length || u.length < 0 && u.tcp.HasReadFailed()):
		u.broken = io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF):
		u.ended = true
		return n, io.EOF
	case err != nil:
		u.broken = err
	}
	return n, u.broken
}

// discardSomeOfRest reads and drops some of the remaining body after an error that does not concern the
// reading. A client that still sends would otherwise not read the answer.
func (u *uploadBodyReader) discardSomeOfRest() {
	if !u.ended && u.broken == nil {
		_, _ = io.CopyN(io.Discard, u, connection.MaxDrain)
	}
}

// singleUploadGuard lets one upload run at a time, and can abort it at a shutdown.
type singleUploadGuard struct {
	mu    sync.Mutex
	conn  net.Conn
	ended bool
}

// startUpload registers the upload over the connection conn. It returns false if another upload
// runs or the server is stopping.
func (g *singleUploadGuard) startUpload(conn net.Conn) (started bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conn != nil || g.ended {
		return false
	}
	g.conn = conn
	return true
}

func (g *singleUploadGuard) finishUpload() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conn = nil
}

// abortAndRejectUploads aborts the running upload by closing its connection, and forbids new ones. A
// shutdown would otherwise wait for it.
func (g *singleUploadGuard) abortAndRejectUploads() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended = true; g.conn != nil {
		_ = g.conn.Close()
	}
}
