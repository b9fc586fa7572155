package server

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

// Lister changes what suppression lists contain. That is state, whoever has the word
// on the list itself.
type Lister interface {
	// SuppressionLists are those of the configuration in force.
	SuppressionLists() ([]SuppressionList, error)
	// Upload gives a list the lines that it reads, once it has read all of them; with
	// add beside those that the list has. After an error the list is as it was. The
	// error is *BadLines, ErrUploadTooLong, engine.ErrNotFound, engine.ErrConflict, or
	// the reader's own.
	Upload(upload *Upload) (*Uploaded, error)
}

// SuppressionList is one of them.
type SuppressionList struct {
	ID       string     `json:"id"`
	Field    string     `json:"field"`
	Hash     string     `json:"hash"`
	Entries  uint64     `json:"entries"`
	LoadedAt *time.Time `json:"loaded_at"`
	Source   *string    `json:"source"` // file or upload; null: it has no contents
	Owner    string     `json:"owner"`  // of the list, not of its contents
}

// Upload is a list's contents on their way.
type Upload struct {
	List  market.ListID
	Lines io.Reader
	Add   bool
	By    string
}

// Uploaded is what became of them.
type Uploaded struct {
	Entries    uint64 `json:"entries"`    // that the list has
	Duplicates uint64 `json:"duplicates"` // lines that it had already, or that came before
	Skipped    uint64 `json:"skipped"`    // lines that are empty or begin with #
}

// BadLines are the first lines that are no entries. What is in them is not told.
type BadLines []BadLine

// BadLine is one of them.
type BadLine struct {
	Number int // from 1
	Why    string
}

func (b BadLines) Error() string {
	return "line " + strconv.Itoa(b[0].Number) + " is no entry: " + b[0].Why
}

// ErrUploadTooLong is of an upload with more entries than memory is spent on.
var ErrUploadTooLong = errors.New("too many entries")

func (a *Admin) lists(ctx *fasthttp.RequestCtx) {
	lists, err := a.operator.SuppressionLists()
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	a.tell(ctx, struct {
		Lists []SuppressionList `json:"lists"`
	}{append([]SuppressionList{}, lists...)})
}

// upload reads a list as it comes. One at a time does: each may take as much memory as
// the largest list has.
func (a *Admin) upload(ctx *fasthttp.RequestCtx) {
	mode := string(ctx.QueryArgs().Peek("mode"))
	if mode != "" && mode != "replace" && mode != "add" {
		a.fail(ctx, faultPayload, market.FieldError{Field: "mode", Code: errcode.FieldNotAllowedValue, Expected: "replace or add"})
		return
	}
	length := ctx.Request.Header.ContentLength()
	if length > maxUpload {
		a.fail(ctx, faultUpload)
		return
	}
	if length == 0 || ctx.RequestBodyStream() == nil {
		a.fail(ctx, faultPayload, market.FieldError{Field: "body", Code: errcode.FieldMissingRequired, Expected: "a value or a hash a line; one line with # alone empties the list"})
		return
	}
	if !a.loading.begin(ctx.Conn()) {
		a.fail(ctx, faultUploading)
		return
	}
	defer a.loading.done()
	id := parameter(ctx, "id")
	lines := &uploadReader{from: ctx.RequestBodyStream(), conn: ctx.Conn(), guest: guestOf(ctx), length: length, until: time.Now().Add(uploadLongest)}
	lines.good = func() bool { return a.gone(ctx).status == 0 }
	done, err := a.operator.Upload(&Upload{List: market.ListID(strings.Clone(id)), Lines: lines, Add: mode == "add", By: actorOf(ctx)})
	if lines.ended {
		ctx.SetUserValue(bodyRead, []byte{})
	}
	if err != nil {
		a.failUpload(ctx, lines, err)
		return
	}
	a.tell(ctx, done)
}

func (a *Admin) failUpload(ctx *fasthttp.RequestCtx, lines *uploadReader, err error) {
	var bad BadLines
	switch {
	case errors.As(err, &bad):
		fields := make([]market.FieldError, 0, len(bad))
		for _, line := range bad {
			fields = append(fields, market.FieldError{Field: "line " + strconv.Itoa(line.Number), Code: errcode.FieldInvalidFormat, Expected: line.Why})
		}
		a.fail(ctx, fault{422, errcode.InvalidPayload, "The list is as it was: these lines are no entries of it. Send a value or a hash a line."}, fields...)
	case errors.Is(err, ErrUploadTooLong), errors.Is(err, errUploadBytes):
		a.fail(ctx, faultUpload)
	case errors.Is(lines.broken, errUploadLeft):
		who := askerOf(ctx)
		a.fail(ctx, who.ended())
	case lines.broken != nil:
		a.fail(ctx, unread(lines.broken))
	default:
		a.failWith(ctx, err)
	}
	lines.drain()
}
