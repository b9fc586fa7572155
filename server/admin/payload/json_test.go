package payload

import (
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestLongAnswersAreCompressed(t *testing.T) {
	short, long := []string{"x"}, make([]string, 1000)
	for _, row := range []struct {
		name, accepts, cacheControl string
		document                    any
		isCompressed, varies        bool
	}{
		{"long, for a client that accepts gzip", "gzip, deflate", "", long, true, true},
		{"long, for another client", "", "", long, false, true},
		{"short", "gzip", "", short, false, false},
		{"may have a secret", "gzip", "no-store", long, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			ctx := &fasthttp.RequestCtx{}
			ctx.Request.Header.Set("Accept-Encoding", row.accepts)
			if row.cacheControl != "" {
				ctx.Response.Header.Set("Cache-Control", row.cacheControl)
			}
			SendJSON(ctx, row.document)
			CompressLongJSON(ctx)
			header := &ctx.Response.Header
			if got := string(header.Peek("Content-Encoding")) == "gzip"; got != row.isCompressed {
				t.Errorf("compressed: %t, want %t", got, row.isCompressed)
			}
			if got := string(header.Peek("Vary")) == "Accept-Encoding"; got != row.varies {
				t.Errorf("Vary: Accept-Encoding: %t, want %t", got, row.varies)
			}
			body, err := ctx.Response.BodyUncompressed()
			if want := string(EncodeJSON(row.document)) + "\n"; err != nil || string(body) != want {
				t.Errorf("body of %d bytes: %v; want %d bytes", len(body), err, len(want))
			}
			if row.isCompressed && len(ctx.Response.Body())*2 > len(body) {
				t.Errorf("%d of %d bytes are left", len(ctx.Response.Body()), len(body))
			}
			if !strings.HasPrefix(string(header.ContentType()), "application/json") {
				t.Errorf("content type %q", header.ContentType())
			}
		})
	}
}
