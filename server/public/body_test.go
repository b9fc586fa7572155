package public

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

func TestIdempotencyKeySyntax(t *testing.T) {
	long := strings.Repeat("k", 255)
	for _, row := range []struct {
		header, key string
		ok          bool
	}{
		{"", "", true},
		{"k", "k", true},
		{" k\t", "k", true},
		{`"k"`, "k", true},
		{`""k""`, `"k"`, true},
		{`"k`, `"k`, true},
		{`"`, `"`, true},
		{`""`, "", false},
		{`" "`, "", false},
		{"a b", "", false},
		{"a\x7f", "", false},
		{"ü", "", false},
		{long, long, true},
		{`"` + long + `"`, long, true},
		{long + "k", "", false},
		{`"` + long + `k"`, "", false},
	} {
		var header fasthttp.RequestHeader
		header.Set("Idempotency-Key", row.header)
		key, ok := readIdempotencyKey(&header)
		if string(key) != row.key || ok != row.ok {
			t.Errorf("%q: %q, %v, want %q, %v", row.header, key, ok, row.key, row.ok)
		}
	}
}

// failingReader returns some bytes and then an error.
type failingReader struct {
	text io.Reader
	err  error
}

func (b failingReader) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

func TestReadBodyLimitAndFailures(t *testing.T) {
	s := &Server{opt: Options{Body: 4000}}
	text := func(length int) io.Reader { return strings.NewReader(strings.Repeat("b", length)) }
	for name, row := range map[string]struct {
		stream io.Reader
		length int // Content-Length; -1: chunked
		want   httperror.Error
		closes bool
	}{
		"none":                           {nil, 0, httperror.Error{}, false},
		"empty":                          {text(0), 0, httperror.Error{}, false},
		"short":                          {text(10), 10, httperror.Error{}, false},
		"longer than the initial buffer": {text(3000), 3000, httperror.Error{}, false},
		"at the limit":                   {text(4000), 4000, httperror.Error{}, false},
		"in chunks, at the limit":        {text(4000), -1, httperror.Error{}, false},
		"over the limit":                 {text(4001), 4001, httperror.BodyTooLarge, true},
		"in chunks, over the limit":      {text(4001), -1, httperror.BodyTooLarge, true},
		"without an end":                 {text(1 << 24), -1, httperror.BodyTooLarge, true},
		"cut off":                        {text(5), 10, httperror.Framing, true},
		"no chunks":                      {failingReader{text(5), errors.New("no chunk")}, -1, httperror.Framing, true},
		"too slow":                       {failingReader{text(5), os.ErrDeadlineExceeded}, 10, httperror.RequestTimeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			var ctx fasthttp.RequestCtx
			if row.stream != nil {
				ctx.Request.SetBodyStream(row.stream, row.length)
			}
			r := new(scratch)
			got := s.readBody(&ctx, r)
			if got != row.want || ctx.Response.ConnectionClose() != row.closes {
				t.Errorf("got %+v, connection closes: %v", got, ctx.Response.ConnectionClose())
			}
			if got.Status == 0 && row.length > 0 && len(r.body) != row.length {
				t.Errorf("%d bytes", len(r.body))
			}
		})
	}
	r := &scratch{body: make([]byte, maxPooledBody+1)}
	if r.releaseToPool(); r.body != nil {
		t.Error("the buffer of a huge body is pooled")
	}
}
